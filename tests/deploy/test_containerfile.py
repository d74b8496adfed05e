"""The image: what goes into it, who it runs as, and whether its health check tells the truth.

No container is built here.
"""

from __future__ import annotations

import fnmatch
import json
import re
import runpy
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import NamedTuple

import pytest

PROJECT = Path(__file__).parents[2]
HEALTHY = PROJECT / "deploy" / "healthy.py"


class Instruction(NamedTuple):
    """One of a Containerfile."""

    word: str
    rest: str


def _instructions(text: str) -> list[Instruction]:
    lines = [line for line in text.splitlines() if not line.startswith("#")]
    whole = re.sub(r"\\\n\s*", "", "\n".join(lines))
    return [Instruction(*line.split(maxsplit=1)) for line in whole.splitlines() if line.strip()]


FILE = _instructions((PROJECT / "deploy" / "Containerfile").read_text())
IGNORED = (PROJECT / ".dockerignore").read_text().splitlines()
LAST_STAGE = FILE[max(i for i, one in enumerate(FILE) if one.word == "FROM") :]


def _copied() -> Iterator[str]:
    for one in FILE:
        if one.word == "COPY" and "--from=" not in one.rest:
            yield from one.rest.split()[:-1]


def _is_sent(path: str) -> bool:
    """Whether the builder gets a file or folder: a later line of the ignore file counts more."""
    sent = True
    for line in IGNORED:
        if line and not line.startswith("#") and fnmatch.fnmatch(path, line.lstrip("!")):
            sent = line.startswith("!")
    return sent


# ---- what goes into it -------------------------------------------------------------------------


def test_what_is_copied_is_there_and_is_sent_to_the_builder() -> None:
    copied = list(_copied())
    assert {"actors", "services", "policies", "monitors"} < set(copied)
    for path in copied:
        assert (PROJECT / path).exists(), path
        assert _is_sent(path), path


@pytest.mark.parametrize("path", [".git", ".venv", "runs", "tests", "trainings", "deploy"])
def test_nothing_else_is_sent(path: str) -> None:
    assert not _is_sent(path)


def test_every_package_of_hanse_is_copied() -> None:
    packages = {file.parent.name for file in PROJECT.glob("*/__init__.py")} - {"tests"}
    assert packages <= set(_copied())


def test_all_that_pip_installs_is_pinned_by_the_lock_files() -> None:
    run = " ".join(one.rest for one in FILE if one.word == "RUN")
    installs = re.findall(r"pip install ([^&]*)", run)
    assert len(installs) == 2
    assert all("-c requirements.lock" in install for install in installs)
    assert "-r requirements-dashboard.lock" in installs[1]


def test_the_lock_file_of_the_dashboard_goes_with_the_other() -> None:
    locks = {}
    for path in (PROJECT / "requirements.lock", PROJECT / "deploy" / "requirements-dashboard.lock"):
        lines = [line for line in path.read_text().splitlines() if not line.startswith("#")]
        assert all(re.fullmatch(r"[\w.\[\]-]+==[\w.]+", line) for line in lines), path
        locks[path.name] = dict(line.split("==") for line in lines)
    ray = locks["requirements.lock"]["ray"]
    assert locks["requirements-dashboard.lock"].pop("ray[default]") == ray
    assert not locks["requirements.lock"].keys() & locks["requirements-dashboard.lock"].keys()


# ---- what it is --------------------------------------------------------------------------------


def test_its_base_has_a_whole_version_that_hanse_takes() -> None:
    bases = [one.rest.split()[0] for one in FILE if one.word == "FROM"]
    assert len(set(bases)) == 1
    assert re.fullmatch(r"python:3\.1[123]\.\d+-slim-[a-z]+", bases[0])


def test_it_runs_as_a_user_without_rights() -> None:
    users = [one.rest for one in LAST_STAGE if one.word == "USER"]
    assert users == ["1000:1000"]
    # Root does nothing after that.
    after = LAST_STAGE[LAST_STAGE.index(Instruction("USER", users[0])) :]
    assert not {one.word for one in after} & {"RUN", "COPY", "ADD"}


def test_its_home_can_be_written_on_a_read_only_image_and_by_any_user() -> None:
    [environment] = [one.rest.split() for one in LAST_STAGE if one.word == "ENV"]
    assert "HOME=/tmp" in environment


def test_it_holds_no_token() -> None:
    assert not [one for one in FILE if re.search("TOKEN|SECRET|PASSWORD", one.rest)]


# ---- its health check --------------------------------------------------------------------------


def test_its_health_check_is_the_file_that_is_copied() -> None:
    [check] = [one.rest for one in LAST_STAGE if one.word == "HEALTHCHECK"]
    words = json.loads(check[check.index("[") :])
    assert Instruction("COPY", f"deploy/healthy.py {words[-1]}") in LAST_STAGE


def test_a_machine_that_can_run_hanse_is_well() -> None:
    done = subprocess.run([sys.executable, str(HEALTHY)], capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, ""), done.stderr


@pytest.mark.parametrize(("status", "code"), [(200, 0), (503, 1)])
def test_a_ray_node_is_as_well_as_its_agent_says(
    status: int, code: int, capsys: pytest.CaptureFixture[str]
) -> None:
    with _agent(status) as port:
        assert runpy.run_path(str(HEALTHY))["main"](port) == code
    assert ("503 the raylet is gone" in capsys.readouterr().out) == (status == 503)


def test_a_machine_on_which_hanse_cannot_run_is_not_well(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from services.cli import health

    full = health.Check("disk", "failed", "0 GB free", "free some")
    monkeypatch.setattr(health, "check_machine", lambda *, start_ray: [full])
    with _agent(200) as port:
        pass  # now nobody listens there
    assert runpy.run_path(str(HEALTHY))["main"](port) == 1
    assert capsys.readouterr().out == "disk: 0 GB free; free some\n"


@contextmanager
def _agent(status: int) -> Iterator[int]:
    """Answers as a Ray node's agent does; its port."""

    class Answers(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            assert self.path == "/api/healthz"
            self.send_response(status)
            self.end_headers()
            self.wfile.write(b"success" if status == 200 else b"the raylet is gone")

        def log_message(self, format: str, *args: object) -> None:
            pass

    with HTTPServer(("127.0.0.1", 0), Answers) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield server.server_address[1]
        finally:
            server.shutdown()
