"""Three hosts and a laptop for all tests of a session; only `make test-cluster` runs these.

With `make test-cluster ALL=1` a lost head, TLS, Redis, full disks and a pod are tried, too.

They need root, some Debian packages and minutes, so a plain `pytest` does not even collect them.
The files are numbered: the cluster is started once, and what ends it comes last.
"""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest

from tests.cluster.hosts import Hosts, missing
from tests.cluster.inline import Inline
from tests.cluster.laptop import Laptop
from tests.cluster.recoveries import Recoveries

RECOVERIES = Recoveries()

LONGER = [
    *("test_*_full_disk.py", "test_*_head.py", "test_*_security.py"),
    *("test_*_redis.py", "test_*_pod.py"),
]
"""What takes minutes more, most of it with a cluster of its own."""

match os.environ.get("HANSE_TEST_CLUSTER"):
    case "all":
        collect_ignore_glob = []
    case "1":
        collect_ignore_glob = LONGER
    case _:
        collect_ignore_glob = ["test_*.py"]


@pytest.fixture(scope="session")
def hosts() -> Iterator[Hosts]:
    """The hosts, with nothing on them."""
    if reason := missing():
        pytest.skip(reason)
    with Hosts.make() as made:
        yield made


@pytest.fixture(scope="session")
def laptop(hosts: Hosts) -> Laptop:
    """The user's machine, with a cluster file of the three hosts."""
    return Laptop(hosts)


@pytest.fixture(scope="session")
def cluster(laptop: Laptop) -> Laptop:
    """The same, and the cluster is up."""
    laptop.hanse("cluster up hosts.yaml")
    return laptop


@pytest.fixture(scope="session")
def inline(tmp_path_factory: pytest.TempPathFactory) -> Inline:
    """What the leagues of these tests come to in one process."""
    return Inline(tmp_path_factory.mktemp("inline"))


@pytest.fixture(scope="session")
def recoveries() -> Recoveries:
    """How long leagues stood still; shown as a table at the end."""
    return RECOVERIES


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Prints the table."""
    for line in RECOVERIES.lines():
        terminalreporter.write_line(line)
