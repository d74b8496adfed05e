"""In a pod `hanse run` joins the Ray that is there and needs no right (deploy/kuberay.yaml)."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cluster.hosts import missing
from tests.cluster.inline import Inline
from tests.cluster.laptop import HANSE
from tests.cluster.pod import in_pod

LEAGUE = 'name = "pod"\ndays = 4\n[generate]\nfirms = 30\ntowns = 3\n'
SCRIPT = """
export RAY_AUTH_MODE=token RAY_AUTH_TOKEN=0123456789abcdef0123456789abcdef
cd {folder}
ray start --head --port=6379 --num-cpus=2 --object-store-memory=200000000 \\
    --include-dashboard=false > start.log 2>&1 || cat start.log
RAY_ADDRESS=127.0.0.1:6379 {hanse} run pod.toml --placement packed --hosts 3 --json > result.json
echo "user $(id -u), rights $(sed -n 's/^CapEff:\\s*//p' /proc/self/status)"
echo "log $(python -c 'import json; print(json.load(open("result.json"))["log_sha256"])')"
echo "Ray was started $(ls -d /tmp/ray/session_2* | wc -l) times"
touch /etc/hanse
"""


@pytest.fixture(scope="module")
def said() -> Iterator[str]:
    """What a run in a pod has said."""
    if reason := missing():
        pytest.skip(reason)
    folder = Path(tempfile.mkdtemp(prefix="hanse-pod-", dir="/var/tmp"))
    try:
        (folder / "pod.toml").write_text(LEAGUE)
        done = in_pod(SCRIPT.format(folder=folder, hanse=HANSE), folder, 200)
        yield done.stdout + done.stderr
    finally:
        shutil.rmtree(folder)


def test_it_has_no_rights_and_nothing_to_write_to(said: str) -> None:
    assert "user 1000, rights 0000000000000000\n" in said
    assert "touch: cannot touch '/etc/hanse': Read-only file system" in said


def test_its_result_is_that_of_one_process(said: str, inline: Inline) -> None:
    assert f"log {inline.digest(LEAGUE)}\n" in said, said


def test_it_starts_no_ray_of_its_own(said: str) -> None:
    assert "Ray was started 1 times\n" in said, said
