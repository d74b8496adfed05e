"""A run whose head is lost goes on when the head is back, with the result of one that was not."""

from __future__ import annotations

from tests.cluster.hosts import Hosts
from tests.cluster.inline import Inline
from tests.cluster.laptop import Laptop
from tests.cluster.recoveries import Days, Recoveries, killed, now
from tests.cluster.test_3_failures import KILL_DAY, LEAGUE

RUN = "headless"
KEEPER = "^[^ ]*python[^ ]* -m services.cli.cluster_head keep"
OF_THE_RUN = "^[^ ]*python[^ ]* -m services.cli.cluster_head|^ray::HostActor"


def test_a_run_goes_on_though_its_keeper_and_then_the_head_are_lost(
    cluster: Laptop, hosts: Hosts, inline: Inline, recoveries: Recoveries
) -> None:
    cluster.hanse("cluster up hosts.yaml")
    cluster.write("long.toml", LEAGUE)
    cluster.hanse(f"cluster run hosts.yaml long.toml --detach --out runs/{RUN}")
    database = f".hanse/hanse/runs/{RUN}/project/runs/{RUN}/run.db"
    days = Days(hosts["h1"], database)
    try:
        days.wait_for(KILL_DAY)
        moment = killed(hosts["h1"], KEEPER)
        assert ends(hosts, OF_THE_RUN)
        cluster.hanse(f"cluster resume hosts.yaml {RUN} --detach")
        days.wait_for(2 * KILL_DAY)
        recoveries.add("what keeps the league (kill -9)", days.standstill(moment), 0)
        moment = now()
        hosts.reboot("h1")
        said = cluster.refused(f"cluster attach hosts.yaml {RUN}")
        assert "was ended from outside; go on with it there: hanse cluster resume" in said
        assert "start it with: hanse cluster up" in cluster.refused(
            f"cluster resume hosts.yaml {RUN}"
        )
        cluster.hanse("cluster up hosts.yaml")
        days.look_again(database)
        result = cluster.result(f"cluster resume hosts.yaml {RUN}")
        recoveries.add("the head, rebooted (up, resume)", days.standstill(moment), 0)
    finally:
        days.close()
    assert result["log_sha256"] == inline.digest(LEAGUE)
    assert result["spans"] == result["spans_expected"]


def ends(hosts: Hosts, pattern: str) -> bool:
    """Whether the processes with such a command line end by themselves, on every host."""
    look = f"for i in $(seq 50); do pgrep -f '{pattern}' >/dev/null || exit 0; sleep 0.1; done"
    return all(host.ssh(f"{look}; exit 1", check=False).returncode == 0 for host in hosts.cluster)
