"""What the report says: what is in the store, and nothing else."""

import tomllib
from pathlib import Path
from typing import Any

import pytest

from actors.league import League
from services.config import RunConfig, standard
from services.runs import Run, RunStore, report_scope
from services.runs.report import write_report
from services.runs.report_data import collect
from services.runs.report_rerun import to_toml
from tests.services.runs.report_runs import (
    FIRMS,
    HOSTILE,
    NET_INCOME,
    Recorder,
    config,
    large_run,
    manifest,
    small_run,
)

MEGABYTE = 1_000_000


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return small_run(tmp_path_factory.mktemp("runs") / "small")


@pytest.fixture(scope="module")
def told(small: Path) -> dict[str, Any]:
    return collect(Run(small), small)


# ---- what the page says ----


def test_the_header_says_what_the_run_is(told: dict[str, Any], small: Path) -> None:
    run = told["run"]
    assert (run["name"], run["seed"], run["days"], run["rules"]) == ("small", 7, 3, "hanse")
    assert run["state"] == "finished"
    assert run["log_sha256"] == Run(small).log_sha256
    assert run["ledger_sha256"] == Run(small).ledger_sha256
    assert run["versions"]["python"]
    assert run["counts"] == {"messages": 19, "events": 19, "ledger": 10}
    assert told["last_day"] == 2


def test_the_run_file_in_the_page_makes_the_same_configuration(told: dict[str, Any]) -> None:
    values = tomllib.loads(told["run"]["run_file"])
    assert RunConfig.parse(values, "page") == config()


@pytest.mark.parametrize(
    "run",
    [
        standard(),
        standard().with_overrides(
            economy={"loss_probability": 0.25, "festival_days": [3, 5]},
            items={"green_coffee_kg": {"cost": 2.5}},
            recipes={"green_coffee_kg": {"yield": 0.9}},
            towns=[{"name": "Lubeck"}, {"name": "Visby"}],
            firms=[
                {"name": role, "role": role, "options": {"a b": [1, {"c": "d"}]}}
                for role in ("farmer", "roaster", "retailer")
            ],
            routers=[
                {"name": "cog", "rule": "direct", "options": {"partners": {"Visby": "Lubeck"}}}
            ],
            controllers=[
                {"name": "buyer", "options": {"green_coffee_kg": {"reorder_at": 1, "up_to": 2}}}
            ],
        ),
        RunConfig.parse({"generate": {"firms": 30, "towns": 2}}, "test"),
    ],
    ids=["standard", "everything", "generated"],
)
def test_a_run_file_says_all_of_a_configuration(run: RunConfig) -> None:
    assert RunConfig.parse(tomllib.loads(to_toml(run.dump())), "text") == run


def test_a_run_file_keeps_odd_text_and_numbers() -> None:
    values = {"a": 'quote " \\ \n \x7f ü', "b": 1e-9, "c": True, "d": {"odd key": {"e": 2**60}}}
    assert tomllib.loads(to_toml(values)) == values


def test_the_result_is_the_runs_own(told: dict[str, Any]) -> None:
    figures = {f["firm"]: (f["net_income"], f["bankrupt_day"]) for f in told["firms"]}
    assert figures == {
        "farmer_A": (60.25, None),
        "roaster_A": (-1012.34, 2),
        "retailer_A": (1234.5, None),
    }
    assert told["curves_differ"] is False


def test_every_firm_has_a_curve_of_each_figure(told: dict[str, Any]) -> None:
    assert [line["label"] for line in told["lines"]] == ["farmer_A", "roaster_A", "retailer_A"]
    assert told["days"] == [0, 1, 2]
    assert told["series"]["net_income"] == list(NET_INCOME.values())
    assert told["series"]["cash"][1] == [14000.0, 500.0, -12.5]
    assert told["series"]["accounts_payable"] == [[None] * 3] * 3  # not in this run's metrics


def test_stock_is_given_by_item_and_firm(told: dict[str, Any]) -> None:
    assert told["stock"]["green_coffee_kg"] == [[60, 20, 30], [None] * 3, [None] * 3]
    assert told["stock"]["roasted_coffee_kg"][2] == [25, 25, 20]


def test_prices_are_the_lowest_ask_the_shops_own_and_the_mean_by_weight(
    told: dict[str, Any],
) -> None:
    green, roasted = told["prices"]["green_coffee_kg"], told["prices"]["roasted_coffee_kg"]
    assert green["ask"] == [3.9, 3.9, 3.9]  # the farmer asks 4.00, the roaster 3.90
    assert green["deal"] == [4.75, None, None]  # (10 kg * 4.00 + 30 kg * 5.00) / 40 kg
    assert roasted["deal"] == [None, 10.0, None]
    assert roasted["retail"] == {"retailer_A": [18.0, 19.0, 20.0]}


def test_trade_says_who_sold_what_to_whom_on_which_day(told: dict[str, Any]) -> None:
    trade = told["trade"]
    names = [node["name"] for node in trade["nodes"]]
    rows = [
        (day, names[seller], names[buyer], trade["items"][item], kg, dollars, number)
        for day, seller, buyer, item, kg, dollars, number in trade["rows"]
    ]
    assert rows == [
        (0, "farmer_A", "roaster_A", "green_coffee_kg", 40, 190.0, 2),
        (1, "roaster_A", "retailer_A", "roasted_coffee_kg", 8, 80.0, 1),
        (2, "retailer_A", "consumers", "roasted_coffee_kg", 5, 90.0, 1),
    ]
    assert trade["outcomes"] == {"delivered": 1, "lost": 1, "delayed": 1}


def test_trade_between_towns_joins_the_seller_there_to_the_buyer_here(tmp_path: Path) -> None:
    goods = {"item": "green_coffee_kg", "qty": 5, "day": 0}
    record = Recorder()
    for agent, firm, body in (
        # Both towns count their orders from F1; the town that buys tells them apart.
        ("exchange_Visby", "farmer_A", {"direction": "export", "order": "F1", "town": "Lubeck"}),
        ("exchange_Lubeck", "farmer_A", {"direction": "export", "order": "F1", "town": "Visby"}),
        ("exchange_Lubeck", "roaster_A", {"direction": "import", "order": "F1", "town": "Visby"}),
    ):
        record.event(600, "trade", firm, agent, amount=20.0, **body, **goods)
    for firm, role in FIRMS.items():
        record.metric(0, firm, role=role)
    with RunStore.create(tmp_path / "run", manifest(config())) as store:
        record.end_day(store, 0)
    told = collect(Run(tmp_path / "run"), tmp_path / "run")
    names = [node["name"] for node in told["trade"]["nodes"]]
    assert {(names[row[1]], names[row[2]], row[4], row[5]) for row in told["trade"]["rows"]} == {
        ("farmer_A", "roaster_A", 5, 20.0),
        ("farmer_A", "Visby", 5, 20.0),  # not booked there yet
    }


def test_messages_are_counted_by_pair_channel_and_type(told: dict[str, Any]) -> None:
    messages = told["messages"]
    agents, channels, types = messages["agents"], messages["channels"], messages["types"]
    counts = {
        (agents[sender], agents[recipient], channels[channel], types[kind]): count
        for sender, recipient, channel, kind, count in messages["rows"]
    }
    assert counts["exchange", "roaster_A", "exec", "your_turn"] == 3
    assert counts["exchange", "roaster_A", "comm", "letter"] == 1
    assert counts["roaster_A", "exchange", "tool", "command"] == 3
    assert sum(counts.values()) == 19
    assert messages["daily"][types.index("letter")] == [1, 0, 0]


def test_commands_are_counted_and_refusals_told_apart(told: dict[str, Any]) -> None:
    assert told["commands"] == [
        ["farmer_A", "post_listing", False, 1],
        ["roaster_A", "accept_offer", True, 1],
    ]


def test_events_are_sentences(told: dict[str, Any]) -> None:
    told_of = {kind: text for _, kind, _, text in told["incidents"]["rows"]}
    told_of_error = " ".join(f"Error: {HOSTILE}".split())
    assert told_of == {
        "refused": "roaster_A: accept_offer was refused: seller_short_stock",
        "lost": "30 kg of green coffee from farmer_A to roaster_A was lost (D2)",
        "delayed": "8 kg of roasted coffee from roaster_A to retailer_A is a day late (D3)",
        "turn_missed": "roaster_A missed a turn: it did not answer in time",
        "agent_error": f"roaster_A failed: {told_of_error}; it missed the turn",
        "mail_refused": "the mailbox of retailer_A was full: 12 refused",
        "bankruptcy": "roaster_A is bankrupt; its equity is −$1,012.34",
        "comet": "seen_from the harbour, tails 2",  # a kind that nobody knows yet
        "spoilage": "farmer_A: qty a body without its item",  # and a body that does not fit
    }
    counts = told["incidents"]["counts"]
    assert counts["lost"] == 1
    assert (counts["agent_error"], counts["turn_missed"]) == (1, 1), "the time-out alone"


def test_the_trial_balance_is_exact_to_the_micro_dollar(told: dict[str, Any]) -> None:
    books = {book["name"]: book["accounts"] for book in told["ledger"]["books"]}
    assert books["farmer_A"] == [
        ["cash", 0, 75_388_000],
        ["interest_expense", 388_000, 0],
        ["operating_expense", 75_000_000, 0],
    ]
    assert books["all firms"] == [
        ["cash", 0, 225_388_000],
        ["interest_expense", 388_000, 0],
        ["operating_expense", 225_000_000, 0],
    ]


def test_the_entries_are_listed_in_order(told: dict[str, Any]) -> None:
    ledger = told["ledger"]
    first, last = ledger["entries"][0], ledger["entries"][-1]
    assert len(ledger["entries"]) == ledger["count"] == 10
    assert (first[0], ledger["firms"][first[1]], first[4]) == (540, "farmer_A", 25_000_000)
    assert ledger["accounts"][first[2]] == "operating_expense"
    assert ledger["accounts"][first[3]] == "cash"
    assert (last[0], ledger["references"][last[5]]) == (2 * 1440 + 540, "opex")


# ---- runs that are not finished, and runs that are large ----


def test_an_unfinished_run_is_told_up_to_its_last_whole_day(tmp_path: Path) -> None:
    folder = small_run(tmp_path / "run", finished=False)
    told = collect(Run(folder), folder)
    assert told["run"]["state"] == "resumable"
    assert told["last_day"] == 1
    assert [(f["firm"], f["net_income"]) for f in told["firms"]] == [
        ("farmer_A", 10.5),
        ("roaster_A", -60.5),
        ("retailer_A", 250.0),
    ]
    assert told["firms"][0]["stock_kg"] == 20


def test_a_day_that_ends_while_the_page_is_made_is_left_out_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = small_run(tmp_path / "run")
    run = Run(folder)
    first = run.marks()[:1]
    monkeypatch.setattr(run, "marks", lambda: first)
    monkeypatch.setattr(Run, "result", None)
    told = collect(run, folder)
    assert told["days"] == [0]
    assert told["run"]["log_sha256"] == first[0].log_sha256
    assert told["run"]["counts"] == {"messages": 7, "events": 5, "ledger": 4}
    assert {row[0] for row in told["trade"]["rows"]} == {0}
    assert all(entry[0] < 1440 for entry in told["ledger"]["entries"])


def test_a_run_without_a_whole_day_has_a_page_too(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    RunStore.create(folder, manifest(config())).close()
    told = collect(Run(folder), folder)
    assert (told["last_day"], told["firms"], told["days"]) == (-1, [], [])
    assert write_report(folder).exists()


def test_a_large_league_is_added_up_and_the_page_says_so(tmp_path: Path) -> None:
    folder = large_run(tmp_path / "run")
    told = collect(Run(folder), folder)
    assert "This league has 300 firms" in told["notes"][0]
    assert told["firm_count"] == 300
    # Firm n earns 2n dollars: the best are 280..299, the worst 0..19.
    earned = sorted(f["net_income"] for f in told["firms"])
    assert earned == [float(2 * n) for n in (*range(20), *range(280, 300))]
    # Farmers are the firms 0, 3, ..., 297: on average 148.5, times the day.
    means = {line["label"]: told["series"]["net_income"][i] for i, line in enumerate(told["lines"])}
    assert means["mean of farmers"] == [148.5, 297.0]
    assert told["role_summary"][0] | {"tenth": 0, "ninetieth": 0} == {
        "role": "farmers", "firms": 100, "bankrupt": 0, "mean": 297.0, "lowest": 0.0,
        "median": 297.0, "highest": 594.0, "tenth": 0, "ninetieth": 0,
    }  # fmt: skip
    assert [n["name"] for n in told["trade"]["nodes"]] == [
        "farmers of town_0",
        "roasters of town_1",
    ]
    assert told["messages"]["agents"][0] == "exchanges"
    assert told["ledger"]["entries"] == []
    assert told["ledger"]["books"][0] == {
        "name": "all firms",
        "accounts": [["cash", 0, 15_000_000_000], ["operating_expense", 15_000_000_000, 0]],
    }


def test_the_page_of_a_large_league_is_small(tmp_path: Path) -> None:
    page = write_report(large_run(tmp_path / "run", firms=1_000, days=5))
    assert page.stat().st_size < MEGABYTE


def test_a_ledger_that_is_too_long_is_given_as_trial_balance(
    small: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(report_scope, "MOST_ENTRIES", 9)
    told = collect(Run(small), small)
    assert told["ledger"]["entries"] == []
    assert told["ledger"]["books"][-1]["name"] == "retailer_A"
    assert told["notes"] == [
        "The ledger has 10 entries; above 9 the page gives the trial balance without them. "
        "The run folder holds everything."
    ]


def test_a_long_run_is_sampled_and_its_trade_added_up(
    small: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(report_scope, "MOST_POINTS", 2)
    told = collect(Run(small), small)
    assert told["days"] == [0, 2]
    assert told["series"]["net_income"][0] == [-25.0, 60.25]
    assert [row[0] for row in told["trade"]["rows"]] == [0, 0, 2]
    assert "curves show one day in 2" in told["notes"][0]


def test_of_a_thousand_like_events_the_rest_is_counted(tmp_path: Path) -> None:
    record = Recorder()
    with RunStore.create(tmp_path / "run", manifest(config())) as store:
        for _ in range(1_200):
            record.event(540, "mail_refused", "farmer_A", count=1)
        record.end_day(store, 0)
    told = collect(Run(tmp_path / "run"), tmp_path / "run")
    assert told["incidents"]["counts"] == {"mail_refused": 1_200}
    assert len(told["incidents"]["rows"]) == 1_000


# ---- a run that was played ----


def test_a_run_of_the_standard_league_is_told_as_it_was_played(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    with League.create(standard().with_overrides(days=12, placement="inline"), folder) as league:
        result = league.run()
    told = collect(Run(folder), folder)
    assert told["firms"] == [firm.model_dump() for firm in result.firms]
    assert told["run"]["log_sha256"] == result.log_sha256
    assert sum(row[-1] for row in told["messages"]["rows"]) == result.messages
    assert sum(row[-1] for row in told["commands"]) == result.actions
    books = {book["name"]: book["accounts"] for book in told["ledger"]["books"]}
    for place, firm in enumerate(result.firms):
        debits, credits = next(a[1:] for a in books[firm.firm] if a[0] == "cash")
        assert (debits - credits) / 1e6 == pytest.approx(firm.cash, abs=0.005)
        assert told["series"]["cash"][place][-1] == pytest.approx(firm.cash, abs=0.005)
    assert {line["label"] for line in told["lines"]} == {firm.firm for firm in result.firms}
    deals = [row for row in told["trade"]["rows"] if _buyer(told, row) != "consumers"]
    assert 2 * sum(number for *_, number in deals) == sum(firm.deals for firm in result.firms)


def _buyer(told: dict[str, Any], row: list[Any]) -> str:
    return str(told["trade"]["nodes"][row[2]]["name"])
