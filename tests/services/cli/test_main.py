"""The command as such: help, versions, wrong arguments, and how fast it answers."""

import resource
import subprocess
import sys

import pytest

COMMANDS = ["run", "resume", "branch", "report", "sweep", "runs", "export", "new", "doctor"]


def test_without_a_command_it_shows_what_there_is(hanse):
    outcome = hanse()
    assert outcome.code == 0
    for command in COMMANDS:
        assert f" {command} " in outcome.out
    assert "hanse new coffee.toml" in outcome.out


@pytest.mark.parametrize("command", COMMANDS)
def test_the_help_of_every_command_has_an_example(hanse, command):
    outcome = hanse(command, "--help")
    assert outcome.code == 0
    assert "Example" in outcome.out
    assert f"hanse {command}" in outcome.out.partition("Example")[2]


def test_the_version_is_shown(hanse):
    outcome = hanse("--version")
    assert outcome.code == 0
    assert outcome.out.startswith("hanse ")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["rn"], "hanse: no such command 'rn'"),
        (["run", "--sed", "3"], "hanse: no such option"),
        (["run", "a.toml", "b.toml"], "hanse: got unexpected extra argument"),
        (["resume"], "hanse: missing argument"),
        (["run", "--seed", "abc"], "hanse: invalid value for '--seed'"),
        (["sweep", "--workers", "0"], "hanse: invalid value for '--workers'"),
        (["export", "x", "--to", "xml"], "hanse: invalid value for '--to'"),
    ],
)
def test_wrong_arguments_are_one_line_and_exit_code_2(hanse, arguments, message):
    refusal = hanse(*arguments).refusal
    assert refusal.startswith(message)
    assert refusal.endswith("--help")


def test_ctrl_c_anywhere_ends_with_130_and_no_traceback(hanse, monkeypatch):
    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("services.config.load", interrupted)
    outcome = hanse("run", "x.toml")
    assert (outcome.code, outcome.out, outcome.err) == (130, "", "")


def test_a_reader_that_goes_away_causes_no_traceback():
    script = (
        "import sys, services.cli.main as m\n"
        "m.say = lambda text='': [print('x' * 80) for _ in range(10000)]\n"
        "sys.argv = ['hanse', '--version']\n"
        "m.main()"
    )
    with subprocess.Popen(
        [sys.executable, "-c", script], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None and process.stderr is not None
        process.stdout.readline()
        process.stdout.close()
        assert process.stderr.read() == ""
        assert process.wait() == 1


def test_help_imports_nothing_heavy_and_answers_at_once():
    script = (
        "import sys, services.cli.main as m\n"
        "code = m.run_command(['--help'])\n"
        "heavy = {'ray', 'pandas', 'scipy', 'numpy', 'pydantic', 'actors', 'sqlite3'}\n"
        "sys.exit(', '.join(heavy & set(sys.modules)) or code)"
    )
    seconds = []
    for _ in range(3):
        before = _children_seconds()
        done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        seconds.append(_children_seconds() - before)
    assert min(seconds) < 0.4


def _children_seconds() -> float:
    """Processor time of the processes that have ended: a busy machine does not lengthen it."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime
