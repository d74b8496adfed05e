"""`hanse trace`: every question on the command line, its JSON, its exit code and its refusals."""

from __future__ import annotations

import json
import os
import pty
import shutil
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import closing, suppress
from pathlib import Path

import pytest

from services.runs import Run, RunStore
from tests.services.telemetry.collector import Answer, Collector
from tests.services.telemetry.inspection.play import played

ROOT = Path(__file__).parents[3]


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The play's run; to be read only."""
    return played(tmp_path_factory.mktemp("trace") / "run").run.folder


@pytest.fixture(scope="session")
def cheaper(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return played(tmp_path_factory.mktemp("cheap") / "run", last_ask=3.0).run.folder


@pytest.fixture
def ask(hanse, folder) -> Callable[..., object]:
    """Asks about the play."""
    return lambda *words: hanse("trace", folder, *words)


def test_without_a_question_the_run_is_summed_up_and_complete(ask):
    outcome = ask()
    assert outcome.code == 0
    *_, last = outcome.out.splitlines()
    numbers, said, _ = last.removeprefix("spans ").partition(" are there (all kinds; of them ")
    assert said
    total = numbers.split(" of ")
    assert total[0] == total[1]
    assert last.endswith(" of messages: send, receive, process)")
    assert outcome.out.startswith("run run (coffee-0-")
    assert "slowest handlers by agent, in ms, sorted by the 99th percentile (p99)" in outcome.out
    assert "bob: turn" in outcome.out
    assert "bob 1 of 22 (mostly listing_closed)" in outcome.out


def test_the_summary_is_one_document_with_json(ask):
    document = ask("--json").document
    assert document["found"] == document["expected"] == sum(document["kinds"].values())
    assert document["days"] == 6


def test_why_shows_order_causes_and_effects_of_a_deal(ask):
    outcome = ask("why", "D1")
    assert outcome.code == 0
    assert "D1  day 0 11:00: D1: ann sells bob 30 kg of green coffee" in outcome.out
    assert "day 4 09:30  bob pays ann 117.12 $ (I1)" in outcome.out
    assert "10:00  bob looks at what is on offer of green coffee: 1" in outcome.out
    assert "Why ann accepted" in outcome.out


def test_somebodys_text_is_no_markup(ask):
    assert "“[red]soon: coffee is on its way”" in ask("why", "M1").out


def test_somebodys_text_does_not_steer_the_terminal(hanse, folder, tmp_path):
    copy = shutil.copytree(folder, tmp_path / "copy")
    with closing(sqlite3.connect(copy / "run.db")) as connection:
        for table in ("messages", "events"):
            evil = "UPDATE %s SET body = replace(body, '[red]', '\\u001b[2J\\u202e')"
            connection.execute(evil % table)
        connection.commit()
    for words in (["why", "M1"], ["story", "bob"], ["find", "--kind", "letter"]):
        out = hanse("trace", copy, *words).out
        assert "�[2J�soon" in out
        assert "\x1b" not in out


def test_why_is_one_document_with_json(ask):
    document = ask("why", "I1", "--json").document
    assert document["kind"] == "invoice"
    assert document["notes"][0] == "bob paid I1 2 days late: on day 4, due on day 2"
    assert [step["money"] for step in document["order"]][-1] == 117.117
    assert document["effects"]["id"] == document["causes"][0]["steps"][-1]["id"]


def test_what_is_left_out_is_counted_and_shown_with_all(ask):
    words = "looks at what is on offer of green coffee: 1"
    assert words not in ask("why", "M1").out
    assert words in ask("why", "M1", "--all").out


def test_a_story_answers_why_a_firm_ran_out(ask):
    outcome = ask("story", "bob", "--days", "2")
    assert outcome.code == 0
    assert "day 2: out of roasted coffee: 0 kg the evening before, in: 26 kg made" in outcome.out
    assert "green coffee came in: none on day 0, 30 kg on day 1, none on day 2" in outcome.out
    assert "ann replaced L1 by L2 at 4.50 $/kg" in outcome.out


def test_a_story_is_one_document_with_json(ask):
    document = ask("story", "bob", "--days", "1-2", "--json").document
    assert [day["day"] for day in document["days"]] == [1, 2]
    assert document["days"][0]["evening"]["stock"]["green_coffee_kg"]["left"] == 0


def test_find_prints_a_line_for_each_row(ask):
    outcome = ask("find", "--kind", "deal")
    assert [line.split("  ")[0] for line in outcome.out.splitlines()] == [
        "day 0 11:00",
        "day 2 11:30",
    ]


def test_find_with_json_gives_rows_with_their_bodies(ask):
    [row] = ask("find", "--kind", "payment", "--json").document
    assert (row["agent"], row["body"]["amount"]) == ("bob", 117.117)


def test_the_help_of_find_lists_every_kind(hanse):
    from services.telemetry.inspection.kinds import CONDITIONS, ROWS, listed

    shown = hanse("trace", "RUN", "find", "--help").out
    there = {word.strip(" ,.;:()") for word in shown.split()}
    assert {*ROWS, *CONDITIONS, *listed()} <= there


def test_the_summary_has_a_line_about_late_payments(ask):
    assert "paid late: 1 invoice, 2.0 days on average, at most 2 (I1); by bob 1\n" in ask().out


def in_terminal(*words: object, columns: int = 80) -> list[str]:
    """What a command shows in a terminal of so many columns, line by line."""
    ours, theirs = pty.openpty()
    environ = {**os.environ, "COLUMNS": str(columns), "TERM": "dumb", "NO_COLOR": "1"}
    command = [sys.executable, "-m", "services.cli.main", "trace", *map(str, words)]
    shown = b""
    with subprocess.Popen(command, stdout=theirs, cwd=ROOT, env=environ):
        os.close(theirs)
        with suppress(OSError):  # the end of a terminal
            while part := os.read(ours, 4096):
                shown += part
    os.close(ours)
    return shown.decode().replace("\r\n", "\n").splitlines()


def test_in_a_terminal_lines_have_hanging_indents(folder):
    for words, after in ((["story", "bob"], " " * 9), (["find", "--kind", "deal"], " " * 13)):
        lines = in_terminal(folder, *words)
        assert max(map(len, lines)) <= 80
        long = next(n for n, line in enumerate(lines) if "accepts O3" in line or "D1: ann" in line)
        assert lines[long + 1].startswith(after)
        assert lines[long + 1][len(after)] != " "
        assert not lines[long].endswith(" ")


def test_the_summary_fits_into_a_terminal(folder):
    lines = in_terminal(folder)
    assert max(map(len, lines)) <= 80
    start = next(n for n, line in enumerate(lines) if line.startswith("spans ") and "there" in line)
    assert lines[start + 1].startswith("  ")


@pytest.mark.parametrize("words", [["story", "bob"], ["find", "--limit", "500"], ["why", "D1"]])
def test_no_line_is_wrapped_where_it_is_piped(ask, cast_long, words):
    outcome = cast_long(*words)
    assert "x " * 90 in outcome.out or "x …" in outcome.out
    assert len(outcome.out.splitlines()) == len(ask(*words).out.splitlines())


@pytest.fixture
def cast_long(hanse, folder, tmp_path):
    """Asks about the play with a letter and a listing's name that fill several lines."""
    copy = shutil.copytree(folder, tmp_path / "long")
    with closing(sqlite3.connect(copy / "run.db")) as connection:
        for table in ("messages", "events"):
            connection.execute(
                f"UPDATE {table} SET body = replace(body, ?, ?)", ("green_coffee_kg", "x " * 120)
            )
        connection.commit()
    return lambda *words: hanse("trace", copy, *words)


def test_find_says_that_there_is_more_or_nothing(ask):
    assert ask("find", "--limit", "3").err == "the first 3; there is more: see --limit\n"
    assert ask("find", "--text", "no such thing").err == "nothing found\n"


def test_equal_runs_exit_with_0_and_others_with_1(hanse, folder, cheaper, tmp_path):
    copy = shutil.copytree(folder, tmp_path / "copy")
    equal = hanse("trace", folder, "diff", copy)
    assert (equal.code, equal.out) == (0, "equal: the same log for all 6 days\n")
    apart = hanse("trace", folder, "diff", cheaper)
    assert apart.code == 1
    assert "equal until day 2; they part on day 3" in apart.out
    assert f"asking_price: 3.5 in {folder}, 3.0 in {cheaper}" in apart.out
    one, two = (sum(f.net_income for f in Run(run).result.firms) for run in (folder, cheaper))
    assert (
        f"net income of all firms up to day 5: {one:,.2f} $ in {folder}, {two:,.2f} $ in {cheaper}:"
        f" {two - one:+,.2f} $\n"
    ) in apart.out


def test_a_difference_is_one_document_with_json(hanse, folder, cheaper):
    outcome = hanse("trace", folder, "diff", cheaper, "--json")
    assert (outcome.code, json.loads(outcome.out)["day"]) == (1, 3)
    earned = json.loads(outcome.out)["net_income"]
    assert earned["day"] == 5
    assert earned["first"] == pytest.approx(sum(f.net_income for f in Run(folder).result.firms))


@pytest.mark.parametrize("to", ["perfetto", "otlp-json"])
def test_exports_hold_every_span(ask, tmp_path, to):
    spans = ask("--json").document["found"]
    document = ask("export", "--to", to, "--out", tmp_path / "spans", "--json").document
    assert document == {"file": str(tmp_path / "spans"), "spans": spans}
    assert (tmp_path / "spans").stat().st_size > 10_000


def test_an_export_may_be_of_some_days_only(ask, tmp_path):
    some = ask("export", "--to", "otlp-json", "--out", tmp_path / "x", "--days", "2", "--json")
    every = ask("export", "--to", "otlp-json", "--out", tmp_path / "y", "--json")
    assert 0 < some.document["spans"] < every.document["spans"]


def test_a_collector_is_sent_every_span_once(ask):
    spans = ask("--json").document["found"]
    with Collector() as collector:
        sent = ask("export", "--to", "otlp", "--endpoint", collector.url, "--json")
    assert sent.document == {"sent": spans, "not_sampled": 0}
    assert len(collector.span_ids()) == len(set(collector.span_ids())) == spans


def test_a_collector_that_refuses_is_told_of_in_a_line(ask):
    with Collector(*[Answer(400)] * 50) as collector:
        outcome = ask("export", "--to", "otlp", "--endpoint", collector.url)
    assert (outcome.code, outcome.out) == (2, "")
    assert "answered 400" in outcome.err.splitlines()[-1]


def test_a_page_is_written_where_it_is_wanted(ask, tmp_path):
    assert ask("view", "--out", tmp_path / "trace.html", "--json").document == {
        "page": str(tmp_path / "trace.html")
    }
    assert "<html" in (tmp_path / "trace.html").read_text()[:500]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["why", "D7"], "there is no deal D7; the last one is D2"),
        (["why", "rubbish"], "'rubbish' is no id; name a message"),
        (["why", "anna#1"], "there is no agent anna; did you mean ann?"),
        (["story", "anna"], "there is no agent anna; did you mean ann?"),
        (["story", "bob", "--days", "50-60"], "none of these days is in the run"),
        (["story", "bob", "--days", "x"], "--days 'x': name two days such as 40-47, or one"),
        (["story", "bob", "--days", "5-2"], "--days 5-2: the first day comes first"),
        (["find", "--kind", "deels"], "there is no such kind (did you mean deal"),
        (["find", "--agent", "bop"], "has no such agent (did you mean bob?)"),
        (["find", "--where", "this is no SQL"], "--where: "),
        (["find", "--where", "1; DROP TABLE messages"], "--where: "),
        (["diff", "no-such-run"], "no-such-run: there is no such run"),
        (["export", "--to", "perfetto", "--days", "77"], "none of days 77 is in the run"),
        (["export", "--to", "otlp"], "no collector is named; add --endpoint"),
        (["export", "--to", "otlp", "--out", "x"], "--out is for files"),
        (["export", "--to", "perfetto", "--endpoint", "x"], "--endpoint is for --to otlp"),
        (["view", "--json"], "--json is for view --out FILE"),
        (["wy", "D1"], "no such command 'wy'"),
    ],
)
def test_bad_input_is_refused_in_one_line(ask, words, message, monkeypatch):
    monkeypatch.delenv("OTEL_EXPORTER_OTLP_ENDPOINT", raising=False)
    monkeypatch.delenv("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", raising=False)
    assert message in ask(*words).refusal


def test_a_run_that_does_not_exist_is_refused(hanse):
    assert hanse("trace", "x", "why", "D1").refusal.startswith("hanse: x: there is no such run")


def test_a_question_before_the_run_is_put_right(hanse):
    message = "hanse: name the run first: hanse trace RUN why D1"
    assert hanse("trace", "why", "D1").refusal == message


def test_a_run_of_an_older_format_is_refused(hanse, folder, tmp_path):
    old = shutil.copytree(folder, tmp_path / "old")
    manifest = json.loads((old / "manifest.json").read_text())
    (old / "manifest.json").write_text(json.dumps({**manifest, "format": 1}))
    for words in (["why", "D1"], ["find"], ["story", "bob"], []):
        assert "format 1" in hanse("trace", old, *words).refusal


def test_a_damaged_run_is_refused(hanse, folder, tmp_path):
    bad = shutil.copytree(folder, tmp_path / "bad")
    (bad / "run.db").write_bytes((bad / "run.db").read_bytes()[:5000])
    for words in (["why", "D1"], ["find"], ["story", "bob"], []):
        assert "run.db: truncated" in hanse("trace", bad, *words).refusal


def test_a_run_without_a_whole_day_is_no_error_where_nothing_is_asked_of_it(
    hanse, folder, tmp_path
):
    from services.runs import Run

    empty = tmp_path / "empty"
    RunStore.create(empty, Run(folder).manifest).close()
    assert hanse("trace", empty).out.splitlines()[-1].startswith("spans 0 of 0 are there")
    assert hanse("trace", empty, "find").err == "nothing found\n"
    assert "no day is complete yet" in hanse("trace", empty, "why", "D1").refusal
    assert "no day is complete yet" in hanse("trace", empty, "story", "bob").refusal


@pytest.mark.parametrize(
    "words",
    [
        ["trace", "--help"],
        ["trace"],
        *(
            ["trace", *run, question, "--help"]
            for run in ([], ["RUN"])
            for question in ("summary", "why", "story", "find", "diff", "export", "view")
        ),
    ],
)
def test_help_teaches_with_examples(hanse, words):
    outcome = hanse(*words)
    assert outcome.code == 0
    assert "Examples" in outcome.out
    assert "hanse trace " in outcome.out


def test_a_run_is_read_while_another_process_writes_it(hanse, tmp_path):
    running = tmp_path / "running"
    program = (
        "from pathlib import Path; import time;"
        "from actors.league import League;"
        "from tests.services.telemetry.inspection.play import config;"
        f"league = League.create(config(), Path({str(running)!r}));"
        "print('there', flush=True);"
        "league.run(on_day=lambda progress: time.sleep(60 if progress.day == 3 else 0))"
    )
    writer = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, cwd=ROOT)
    try:
        assert writer.stdout is not None
        writer.stdout.readline()
        deadline = time.monotonic() + 60
        while hanse("trace", running, "--json").document["days"] < 4:
            assert time.monotonic() < deadline
            time.sleep(0.2)
        assert "bob" in hanse("trace", running, "why", "D1").out
        assert hanse("trace", running, "story", "bob", "--days", "3").code == 0
        assert (
            "none of these days" in hanse("trace", running, "story", "bob", "--days", "4").refusal
        )
    finally:
        writer.kill()
        writer.wait()


def test_nothing_that_is_asked_changes_the_run(hanse, folder, tmp_path):
    copy = shutil.copytree(folder, tmp_path / "copy")
    before = (copy / "run.db").read_bytes()
    for words in ([], ["why", "D1"], ["story", "ann"], ["find"], ["diff", folder]):
        hanse("trace", copy, *words)
    assert (copy / "run.db").read_bytes() == before
    with closing(sqlite3.connect(copy / "run.db")) as connection:
        assert connection.execute("PRAGMA quick_check").fetchone() == ("ok",)
