"""The head is lost in the middle of a day: the run goes on, and nobody is asked twice."""

from __future__ import annotations

import json

from services.runs import Run
from services.telemetry.logs import FILE
from tests.cluster import redis
from tests.cluster.hosts import Hosts
from tests.cluster.laptop import Laptop
from tests.cluster.recoveries import Recoveries, now, stopped
from tests.cluster.test_2_leagues import DEFAULT
from tests.cluster.test_3_failures import wait_until

NAME = "headless"
ASKED_DAY = 6
DAYS = 15
ASKED = f"""
import logging, os, time
from pathlib import Path
from actors.strategies import Strategy
from services.economy.commands import ViewListings, ViewTrialBalance, WaitForNextDay

class Asked(Strategy):
    '''Answers something else each time, and on one day takes its time.'''

    reproducible = False

    def decide(self, turn, context):
        count = Path.home() / "asked"
        asked = int(count.read_text()) if count.exists() else 0
        count.write_text(str(asked + 1))
        logging.getLogger("asked").info("question %d of day %d", asked, turn.day)
        thinking = Path.home() / "thinking"
        if turn.day == {ASKED_DAY} and os.uname().nodename != "laptop" and not thinking.exists():
            thinking.touch()
            time.sleep(8)
        return (ViewListings(), ViewTrialBalance(), WaitForNextDay())[asked % 3]
"""
RUN_FILE = DEFAULT.replace("days = 10", f"days = {DAYS}").replace(
    'name = "roaster_A", role = "roaster"',
    'name = "roaster_A", role = "roaster", strategy = "asked.py:Asked"',
)
LEAGUE = "^[^ ]*python[^ ]* -m services.cli.cluster_head play"


def test_an_answer_and_a_log_survive_the_head_on_another_machine(
    cluster: Laptop, hosts: Hosts, recoveries: Recoveries
) -> None:
    cluster.hanse("cluster up hosts.yaml")
    cluster.write("asked.py", ASKED)
    cluster.write("asked.toml", RUN_FILE)
    here = cluster.result("run asked.toml --placement inline")
    cluster.hanse(
        f"cluster run hosts.yaml asked.toml --placement packed --detach --out runs/{NAME}"
    )
    workers = [hosts["h2"], hosts["h3"]]
    wait_until(lambda: any((host.home / "thinking").exists() for host in workers))
    [asked] = [host for host in workers if (host.home / "thinking").exists()]
    # The league is not to hear of the answer.
    stopped(hosts["h1"], LEAGUE)
    spool = asked.home / ".hanse" / "spools"
    wait_until(lambda: any(b'"answer"' in f.read_bytes() for f in spool.glob(f"*/*-{ASKED_DAY}-*")))
    moment = now()
    hosts.reboot("h1")
    said = cluster.refused(f"cluster attach hosts.yaml {NAME}")
    assert "was ended from outside; go on with it there: hanse cluster resume" in said
    said = cluster.refused(f"cluster resume hosts.yaml {NAME}")
    assert "start it with: hanse cluster up" in said
    # What the test after this one needs; for this one it makes no difference.
    file = "hosts.yaml" if redis.missing() else redis.with_redis(cluster, hosts)
    cluster.hanse(f"cluster up {file}")
    result = cluster.result(f"cluster resume {file} {NAME}")
    recoveries.add("the head, rebooted (up and resume)", now() - moment, 0)
    assert result["log_sha256"] == here["log_sha256"]
    assert (asked.home / "asked").read_text() == (cluster.home / "asked").read_text()
    assert not list(spool.iterdir())
    lines = (cluster.home / "runs" / NAME / FILE).read_text().splitlines()
    logged = [record for record in map(json.loads, lines) if record["logger"] == "asked"]
    assert {record["agent"] for record in logged} == {"roaster_A"}
    assert [record["message"].split()[1] for record in logged] == [
        str(number) for number in range(len(logged))
    ]
    assert len(logged) == int((asked.home / "asked").read_text())
    assert Run(cluster.home / "runs" / NAME).state == "finished"
