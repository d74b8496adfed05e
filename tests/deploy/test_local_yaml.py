"""The cluster file that comes with Hanse is one that Ray takes, and has what was found needed."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import yaml

FILE = Path(__file__).parents[2] / "deploy" / "local.yaml"
VALUES = yaml.safe_load(FILE.read_text())
STARTS = [VALUES[key][-1] for key in ("head_start_ray_commands", "worker_start_ray_commands")]


@pytest.mark.ray
def test_ray_itself_takes_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAY_TMPDIR", str(tmp_path))
    from ray.autoscaler._private.util import prepare_config, validate_config

    config = prepare_config(VALUES)
    validate_config(config)
    [kind] = config["available_node_types"].values()
    assert kind["min_workers"] == len(VALUES["provider"]["worker_ips"])


def test_every_host_is_started_with_tokens_on() -> None:
    assert all("RAY_AUTH_MODE=token" in start for start in STARTS)
    assert "~/.ray/auth_token" in VALUES["file_mounts"]


def test_every_host_has_an_object_store_of_a_named_size() -> None:
    assert all(re.search(r"--object-store-memory=\d+", start) for start in STARTS)


def test_a_lost_machine_is_given_up_within_seconds() -> None:
    knobs = dict(re.findall(r"RAY_health_check_(\w+)=(\d+)", STARTS[0]))
    period, threshold = int(knobs["period_ms"]), int(knobs["failure_threshold"])
    assert period * threshold <= 2000
    assert {"initial_delay_ms", "timeout_ms"} <= set(knobs)


def test_nothing_is_shown_beyond_the_heads_loopback() -> None:
    assert "--dashboard-host=127.0.0.1" in STARTS[0]
