"""What is raised when a host dies."""

from __future__ import annotations


class HostLost(Exception):
    """Hosts have died; the day is played again from its beginning."""

    def __init__(self, hosts: list[str]) -> None:
        super().__init__(f"lost {', '.join(hosts)}")
        self.hosts = hosts
