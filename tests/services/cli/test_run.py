"""`hanse run`, `resume` and `branch`: what they print, where the run goes, how it goes on."""

from pathlib import Path

import pytest

from services.runs import Run

pytestmark = pytest.mark.usefixtures("league")


def test_a_run_ends_with_a_row_for_each_firm_the_folder_and_what_to_type_next(hanse):
    outcome = hanse("run", "--days", 2)
    assert outcome.code == 0
    lines = outcome.out.splitlines()
    header = next(line for line in lines if "net income" in line)
    for column in ("firm", "role", "strategy", "revenue", "stock kg", "letters", "refused"):
        assert column in header
    row = next(line for line in lines if "roaster_A" in line).split()
    assert row == ["roaster_A", "roaster", "heuristic", "300.00", "1,234.50", "60", "3", "4", "0"]
    total = next(line for line in lines if line.startswith("all 6 firms")).split()[3:]
    firms = Run("runs/coffee-seed0-001").result.firms
    assert float(total[0].replace(",", "")) == sum(firm.net_income for firm in firms)
    assert float(total[1].replace(",", "")) == sum(firm.revenue for firm in firms)
    assert len(total) == 5, "stock, letters, refused; a deal has two firms, so deals have no sum"
    assert "2 days, 20 messages, 7 actions in 1.0 s, 20 messages/s" in lines
    assert "seed 0, rules hanse, placement one" in lines
    assert "troubles: turns missed 2" in lines
    assert "run runs/coffee-seed0-001" in lines
    digest = Run("runs/coffee-seed0-001").log_sha256
    assert f"log_sha256 {digest[:12]}" in lines
    assert any("hanse report runs/coffee-seed0-001" in line for line in lines)


def test_the_options_override_the_file(hanse):
    Path("x.toml").write_text('name = "x"\nseed = 1\ndays = 4\nrules = "hanse"\n')
    outcome = hanse(
        *("run", "x.toml", "--seed", 7, "--days", 2, "--rules", "coffeebench"),
        *("--placement", "packed", "--hosts", 3, "--json"),
    )
    document = outcome.document
    assert (document["seed"], document["days"], document["rules"]) == (7, 2, "coffeebench")
    assert (document["placement"], document["hosts"]) == ("packed", 3)
    assert document["run"] == "runs/x-seed7-001"


def test_json_is_one_document_with_the_whole_digest_and_progress_is_on_stderr(hanse):
    outcome = hanse("run", "--days", 2, "--json")
    assert outcome.document["log_sha256"] == Run(outcome.document["run"]).log_sha256
    assert [firm["firm"] for firm in outcome.document["firms"]][:2] == ["farmer_A", "farmer_B"]
    assert "day 1 (2 of 2)  cash: farmer_A 15.2k" in outcome.err


def test_progress_without_a_terminal_is_a_line_for_each_tenth_of_the_run(hanse):
    lines = hanse("run", "--days", 20, "--placement", "inline").err.splitlines()
    assert lines[0] == "run runs/coffee-seed0-001"
    assert [line.split("  ")[0] for line in lines[1:]] == [
        f"day {day} ({day + 1} of 20)" for day in range(1, 20, 2)
    ]
    assert lines[-1].endswith("retailer_B 15.2k  20 messages/s")


def test_the_seconds_in_which_ray_starts_are_announced_unless_told_to_be_quiet(hanse):
    said = "starting Ray (7 actors; --placement inline runs a league of this size without it) ...\n"
    assert said in hanse("run", "--days", 2).err
    assert "starting Ray" not in hanse("run", "--days", 2, "--placement", "inline").err
    assert "starting Ray (2 actors;" in hanse("run", "--days", 2, "--placement", "packed").err
    assert "starting Ray" not in hanse("run", "--days", 2, "--json").err


def test_quiet_says_nothing_on_stderr(hanse):
    assert hanse("run", "--days", 2, "--quiet").err == ""


def test_each_run_gets_the_first_free_folder(hanse):
    for expected in ("001", "002"):
        document = hanse("run", "--days", 1, "--seed", 3, "--json").document
        assert document["run"] == f"runs/coffee-seed3-{expected}"
    Path("runs/coffee-seed3-004").mkdir()
    assert hanse("run", "--days", 1, "--seed", 3, "--json").document["run"].endswith("-003")
    assert hanse("run", "--days", 1, "--seed", 3, "--json").document["run"].endswith("-005")


def test_out_names_the_folder_also_one_that_is_empty_or_deep(hanse):
    Path("empty").mkdir()
    assert hanse("run", "--days", 1, "--out", "empty", "--json").document["run"] == "empty"
    assert hanse("run", "--days", 1, "--out", "a/b", "--json").document["run"] == "a/b"


def test_a_run_that_cannot_begin_leaves_no_folder(hanse, league):
    league.refuse = "Ray cannot start: no memory; check with: hanse doctor"
    refusal = hanse("run", "--quiet").refusal
    assert refusal == "hanse: Ray cannot start: no memory; check with: hanse doctor"
    assert list(Path("runs").iterdir()) == []


def test_ctrl_c_keeps_the_whole_days_and_says_how_to_go_on(hanse, league):
    league.interrupt_in_day = 3
    outcome = hanse("run", "--days", 6, "--quiet")
    assert (outcome.code, outcome.out) == (130, "")
    assert outcome.err == (
        "stopped after day 2; continue with: hanse resume runs/coffee-seed0-001\n"
    )
    assert Run("runs/coffee-seed0-001").state == "resumable"
    assert Run("runs/coffee-seed0-001").day == 2


def test_ctrl_c_names_the_day_that_was_written_while_the_league_closed(hanse, league, monkeypatch):
    def close(self):
        self.store.append(messages=[self._message(3, 0)])
        self.store.end_day(3, b"")
        self.store.close()

    monkeypatch.setattr(league, "close", close)
    league.interrupt_in_day = 3
    outcome = hanse("run", "--days", 6, "--quiet")
    assert outcome.err.startswith("stopped after day 3; ")
    assert Run("runs/coffee-seed0-001").day == 3


def test_ctrl_c_in_the_first_day_can_be_resumed_too(hanse, league):
    league.interrupt_in_day = 0
    outcome = hanse("run", "--days", 2, "--quiet")
    assert outcome.err.startswith("stopped before the end of day 0; continue with: hanse resume")


def test_a_resumed_run_ends_as_if_it_had_not_been_stopped(hanse, league):
    whole = hanse("run", "--days", 6, "--json").document
    league.interrupt_in_day = 3
    hanse("run", "--days", 6)
    league.interrupt_in_day = None
    outcome = hanse("resume", "coffee-seed0-002", "--json")
    assert outcome.document["log_sha256"] == whole["log_sha256"]
    assert outcome.err.splitlines()[0] == "run runs/coffee-seed0-002, from day 3"


def test_a_resumed_run_that_is_stopped_again_counts_from_its_first_day(hanse, league):
    league.interrupt_in_day = 3
    hanse("run", "--days", 6)
    outcome = hanse("resume", "coffee-seed0-001", "--quiet")
    assert outcome.code == 130
    assert outcome.err.startswith("stopped after day 2; ")


def test_resume_can_change_where_the_agents_live(hanse, league):
    league.interrupt_in_day = 1
    hanse("run", "--days", 2)
    league.interrupt_in_day = None
    document = hanse("resume", "coffee-seed0-001", "--placement", "inline", "--json").document
    assert document["placement"] == "inline"


def test_a_finished_run_is_shown_again_and_not_run(hanse):
    first = hanse("run", "--days", 2, "--json").document
    outcome = hanse("resume", first["run"], "--json")
    assert outcome.document == first
    assert outcome.err == "this run is finished already\n"


def test_a_run_that_is_under_way_is_not_resumed(hanse, league):
    league.interrupt_in_day = 1
    hanse("run", "--days", 2)
    with league.resume(Path("runs/coffee-seed0-001")):
        refusal = hanse("resume", "coffee-seed0-001").refusal
    assert "coffee-seed0-001: this run is being run at this moment; wait for it" in refusal


def test_a_branch_shares_the_first_days_and_ends_the_same_when_nothing_is_changed(hanse):
    whole = hanse("run", "--days", 6, "--json").document
    outcome = hanse("branch", "coffee-seed0-001", "--day", 3, "--json")
    assert outcome.document["run"] == "runs/coffee-seed0-001-day3-001"
    assert outcome.document["log_sha256"] == whole["log_sha256"]
    parent = Run("runs/coffee-seed0-001-day3-001").manifest.parent
    assert parent is not None and parent.day == 3


def test_a_branch_can_be_made_without_being_run(hanse):
    hanse("run", "--days", 6)
    outcome = hanse("branch", "coffee-seed0-001", "--day", 3, "--out", "other", "--no-start")
    assert outcome.out == "run other\n"
    assert outcome.err == "start it with: hanse resume other\n"
    assert (Run("other").state, Run("other").day) == ("resumable", 3)


def test_a_branch_from_a_day_that_is_not_there_leaves_no_folder(hanse):
    hanse("run", "--days", 2)
    refusal = hanse("branch", "coffee-seed0-001", "--day", 2).refusal
    assert "there is no checkpoint of day 2; it has those of days 0 to 1" in refusal
    assert [folder.name for folder in Path("runs").iterdir()] == ["coffee-seed0-001"]


def test_a_large_league_shows_its_best_and_worst_firms(hanse):
    firms = "".join(
        f'[[firms]]\nname = "{role}_{number}"\nrole = "{role}"\n'
        for role in ("farmer", "roaster", "retailer")
        for number in range(12)
    )
    Path("many.toml").write_text(f"days = 2\n{firms}")
    outcome = hanse("run", "many.toml")
    assert "farmer_0 " in outcome.out and "retailer_11 " in outcome.out
    assert "roaster_5 " not in outcome.out
    assert "The 10 best and worst; 16 more: --json, or the report." in outcome.out
    assert "cash of 36 firms 547.2k" in outcome.err


def test_towns_are_shown_when_there_are_several_and_bankruptcies_are_named(hanse):
    Path("two.toml").write_text(
        'days = 2\n[[towns]]\nname = "Kiel"\n[[towns]]\nname = "Visby"\n'
        '[[firms]]\nname = "Ada"\nrole = "farmer"\nstrategy = "passive"\n'
        '[[firms]]\nname = "Bo"\nrole = "roaster"\ntown = "Visby"\n'
        '[[firms]]\nname = "Cy"\nrole = "retailer"\n'
    )
    lines = hanse("run", "two.toml").out.splitlines()
    assert next(line for line in lines if "Bo" in line).split()[:2] == ["Bo", "Visby"]
    assert "Ada went bankrupt on day 3" in lines


def test_no_bar_is_drawn_over_the_terminal_in_which_a_human_plays(hanse):
    Path("me.toml").write_text(
        'days = 2\n[[firms]]\nname = "Ada"\nrole = "farmer"\nstrategy = "human"\n'
        '[[firms]]\nname = "Bo"\nrole = "roaster"\n[[firms]]\nname = "Cy"\nrole = "retailer"\n'
    )
    outcome = hanse("run", "me.toml", "--json")
    assert outcome.document["placement"] == "inline"
    assert outcome.err == "run runs/coffee-seed0-001\n" + "your turn\n" * 2


def test_what_a_strategy_prints_is_shown_unless_json_is_wanted(hanse):
    Path("me.toml").write_text(
        'days = 2\n[[firms]]\nname = "Ada"\nrole = "farmer"\nstrategy = "human"\n'
        '[[firms]]\nname = "Bo"\nrole = "roaster"\n[[firms]]\nname = "Cy"\nrole = "retailer"\n'
    )
    assert hanse("run", "me.toml").out.startswith("your turn\nyour turn\n")
