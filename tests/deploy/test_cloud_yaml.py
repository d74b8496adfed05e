"""The cluster files for clouds are ones that Ray takes, and as safe as the one for own hosts."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from services.cluster import ClusterFile
from services.cluster.ray_start import check_start, head_port
from services.errors import HanseError

DEPLOY = Path(__file__).parents[2] / "deploy"
NAMES = ("aws.yaml", "gcp.yaml")
STARTS = ("head_start_ray_commands", "worker_start_ray_commands")

pytestmark = pytest.mark.parametrize("name", NAMES)


def values_of(name: str) -> dict[str, Any]:
    values: dict[str, Any] = yaml.safe_load((DEPLOY / name).read_text())
    return values


@pytest.mark.ray
def test_ray_itself_takes_it(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAY_TMPDIR", str(tmp_path))
    from ray.autoscaler._private.util import prepare_config, validate_config

    config = prepare_config(values_of(name))
    validate_config(config)
    assert config["available_node_types"].keys() == {"head", "worker"}


@pytest.mark.ray
def test_ray_refuses_a_key_that_it_does_not_know(name: str) -> None:
    from jsonschema import ValidationError
    from ray.autoscaler._private.util import prepare_config, validate_config

    values = values_of(name)
    values["available_node_types"]["worker"]["min_worker"] = 2
    with pytest.raises(ValidationError, match="min_worker"):
        validate_config(prepare_config(values))


def test_all_its_workers_are_there_from_the_start(name: str) -> None:
    values = values_of(name)
    worker = values["available_node_types"]["worker"]
    assert worker["min_workers"] == worker["max_workers"] == values["max_workers"]


def test_every_host_is_started_with_tokens_on(name: str) -> None:
    values = values_of(name)
    for key in STARTS:
        assert check_start(values[key], key, "")
    assert values["file_mounts"]["~/.ray/auth_token"] == "~/.hanse/hanse.token"


def test_its_hosts_are_started_as_those_of_local_yaml_are(name: str) -> None:
    for key in STARTS:
        local, cloud = (_knobs(values_of(file)[key]) for file in ("local.yaml", name))
        assert cloud == local
    assert head_port(check_start(values_of(name)[STARTS[0]], name, ""), name) == 6379


def test_nothing_is_shown_beyond_the_heads_loopback(name: str) -> None:
    assert "--dashboard-host=127.0.0.1" in values_of(name)[STARTS[0]][-1]


def test_no_setup_takes_other_versions_than_the_lock_file(name: str) -> None:
    values = values_of(name)
    installs = [line for line in values["setup_commands"] if "pip install" in line]
    assert all("-r ~/hanse/requirements.lock" in i or "--no-deps" in i for i in installs)
    assert len(installs) == 2


@pytest.mark.skipif(shutil.which("rsync") is None, reason="needs rsync")
def test_no_folder_of_hanses_own_is_left_behind(name: str, tmp_path: Path) -> None:
    excludes = [f"--exclude={pattern}" for pattern in values_of(name)["rsync_exclude"]]
    for folder in ("services/runs", "runs", ".venv"):
        (tmp_path / "hanse" / folder).mkdir(parents=True)
    words = ["rsync", "-a", *excludes, f"{tmp_path}/hanse/", f"{tmp_path}/there"]
    subprocess.run(words, check=True)
    assert [path.name for path in (tmp_path / "there").iterdir()] == ["services"]
    assert (tmp_path / "there" / "services" / "runs").is_dir()


def test_hanse_cluster_says_what_to_do_with_it(name: str) -> None:
    kind = name.partition(".")[0]
    with pytest.raises(HanseError) as error:
        ClusterFile.read(DEPLOY / name)
    assert f"provider.type: '{kind}'" in str(error.value)
    assert "ray up" in str(error.value)
    assert "\n" not in str(error.value)


def test_what_a_user_has_to_change_is_marked(name: str) -> None:
    text = (DEPLOY / name).read_text()
    marked = [line for line in text.splitlines() if "<--" in line]
    for key in ("max_workers", "region", "availability_zone", "min_workers", '"~/hanse"'):
        assert any(key in line for line in marked), key


def _knobs(commands: list[str]) -> set[str]:
    """The environment and the options of a `ray start`, but for the size of the object store."""
    [start] = [line for line in commands if " start " in line]
    found = {word for word in start.split() if re.match(r"[A-Z]\w+=|--", word)}
    sized = {word for word in found if word.startswith("--object-store-memory=")}
    assert len(sized) == 1
    return found - sized
