"""Hosts of a league are dealt out to machines, and lost ones go where there is room."""

from __future__ import annotations

import socket

from actors.nodes import Node, answering, moved, spread

HEAD, TWO, TEN = (
    Node("h", "10.0.0.1", 1, "head"),
    Node("b", "10.0.0.2", 1, "two"),
    Node("c", "10.0.0.10", 1, "ten"),
)


def test_hosts_are_dealt_out_in_turn_and_to_the_leagues_own_machine_last() -> None:
    where = spread(["host-0", "host-1", "host-2", "host-3"], [TEN, HEAD, TWO], own="h")
    assert where == {"host-0": "b", "host-1": "c", "host-2": "h", "host-3": "b"}


def test_it_does_not_matter_in_which_order_ray_names_the_machines() -> None:
    names = ["host-0", "host-1", "host-2"]
    assert spread(names, [HEAD, TWO, TEN], "h") == spread(names, [TEN, TWO, HEAD], "h")


def test_monitors_are_beside_the_league_and_take_nobodys_turn() -> None:
    where = spread(["host-0", "monitors", "host-1"], [HEAD, TWO, TEN], own="h")
    assert where == {"host-0": "b", "monitors": "h", "host-1": "c"}


def test_a_lost_host_comes_back_on_its_machine_if_that_lives() -> None:
    assert moved(["x"], {"x": "b", "y": "c"}, ["b", "c"]) == {"x": "b"}


def test_hosts_of_a_lost_machine_go_where_there_are_fewest() -> None:
    where = {"v": "b", "w": "b", "x": "c", "y": "h", "z": "h"}
    assert moved(["v", "w"], where, ["c", "h"]) == {"v": "c", "w": "c"}


def test_a_machine_that_takes_no_connection_does_not_count() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        lives = Node("a", "127.0.0.1", server.getsockname()[1], "a")
        with socket.create_server(("127.0.0.1", 0)) as other:
            dead = Node("b", "127.0.0.1", other.getsockname()[1], "b")
        assert answering([dead, lives]) == [lives]
