"""Without TLS whoever is on the network reads along; the counterpart of test_6_security."""

from __future__ import annotations

from tests.cluster.eavesdropper import overhearing
from tests.cluster.hosts import Hosts
from tests.cluster.laptop import Laptop
from tests.cluster.test_3_failures import all_are_there
from tests.cluster.test_6_security import LEAGUE, WORDS


def test_without_tls_the_leagues_mail_can_be_read_on_the_network(
    cluster: Laptop, hosts: Hosts
) -> None:
    all_are_there(cluster)
    cluster.write("sixty.toml", LEAGUE)
    with overhearing(hosts["h2"]) as heard:
        cluster.hanse("cluster run hosts.yaml sixty.toml --days 3 --quiet")
    assert {word: heard.says(word) for word in WORDS} == dict.fromkeys(WORDS, True)
