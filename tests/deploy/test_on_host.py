"""What a host says of itself, and what `hanse cluster down` ends there: Ray, leagues, no others."""

from __future__ import annotations

from pathlib import Path

import pytest

from services.cluster.on_host import disks, is_ours

RAY = "/venv/lib/python3.11/site-packages/ray"


@pytest.mark.parametrize(
    "line",
    [
        f"{RAY}/core/src/ray/gcs/gcs_server --log_dir=/tmp",
        f"{RAY}/core/src/ray/raylet/raylet --store_socket_name=x",
        f"/venv/bin/python -u {RAY}/autoscaler/_private/monitor.py --logs-dir=/tmp",
        f"/venv/bin/python3.11 -u -X dev {RAY}/_private/log_monitor.py",
        f"python3 {RAY}/_private/workers/setup_worker.py {RAY}/_private/workers/default_worker.py",
        f"python {RAY}/dashboard/dashboard.py",
        "ray::HostActor.run",
        "ray-dashboard-NodeHead-0",
        "/venv/bin/python -m services.cli.cluster_head keep r",
        "/venv/bin/python -m ray.util.client.server",
        "ssh -tt -o ControlPath=/tmp/ray_ssh_a/b/%C hanse@h2",
    ],
)
def test_ray_and_leagues_are_ended(line: str) -> None:
    assert is_ours(line.split())


@pytest.mark.parametrize(
    "line",
    [
        f"vim {RAY}/_private/worker.py",
        f"tail -f {RAY}/dashboard/log",
        "grep -r services.cli.cluster_head .",
        "bash -lc services.cli.cluster_head",
        f"python mine.py {RAY}/_private/x",
        f"python -c pass {RAY}/_private/x",
        "python -m pytest services.cli.cluster_head",
        "ls /tmp/ray_ssh_a",
        "ssh h2",
    ],
)
def test_what_merely_names_them_lives_on(line: str) -> None:
    assert not is_ours(line.split())


def test_a_process_without_a_command_line_lives_on() -> None:
    assert not is_ours([""])


def test_places_on_one_disk_are_named_once_and_those_that_are_none_never(tmp_path: Path) -> None:
    (tmp_path / "below").mkdir()
    found = disks(str(tmp_path), str(tmp_path / "below"), str(tmp_path / "none"), "/proc")
    assert list(found) == [str(tmp_path), "/proc"]
    assert found[str(tmp_path)] > 0
