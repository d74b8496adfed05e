"""The report in a real browser, from the disk: what a reader sees and can do."""

import html
import json
import re
from pathlib import Path
from typing import Any

import pytest

from actors.league import League
from services.config import standard
from services.runs.report import write_report
from tests.browser import View, look_at, needs_browser
from tests.services.runs.report_runs import HOSTILE, large_run, small_run

pytestmark = needs_browser


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_report(small_run(tmp_path_factory.mktemp("runs") / "small"))


@pytest.fixture(scope="module")
def view(page: Path, tmp_path_factory: pytest.TempPathFactory) -> View:
    return look_at(page, tmp_path_factory.mktemp("profile"))


def test_the_page_runs_to_its_end_without_a_complaint(view: View) -> None:
    assert view.complaints == []
    assert 'data-ready="yes"' in view.document


def test_a_complaint_would_be_noticed(page: Path, tmp_path: Path) -> None:
    broken = tmp_path / "broken.html"
    script = "<script>alert(1)</script><img src='https://example.invalid/x.png'></body>"
    broken.write_text(page.read_text().replace("</body>", script))
    assert len(look_at(broken, tmp_path / "profile").complaints) >= 2


def test_the_result_table_has_the_net_income_of_every_firm(view: View) -> None:
    table = re.search(
        r"<table class=\"sortable\"><caption>Result of each firm.*?</table>", view.document
    )
    assert table is not None
    rows = [
        re.sub(r"<[^>]+>", " ", row).split()
        for row in re.findall(r"<tr><th.*?</tr>", table[0].partition("<tbody>")[2])
    ]
    # By net income, the highest first; the roaster is bankrupt.
    assert [(row[0], row[3]) for row in rows] == [
        ("retailer_A", "$1,234.50"),
        ("farmer_A", "$60.25"),
        ("roaster_A", "−$1,012.34"),
    ]
    assert rows[2][-2:] == ["day", "2"]


def test_losses_are_marked(view: View) -> None:
    assert re.search(r'<td class="number negative">−\$1,012\.34</td>', view.document)


def test_every_chart_is_drawn(view: View) -> None:
    assert view.charts() == [
        "Net income, cumulative",
        "Cash",
        "Equity",
        "Green coffee",
        "Roasted coffee",
        "farmer_A",
        "roaster_A",
        "retailer_A",
        "Messages a day",
    ]


def test_trade_is_drawn_as_ribbons_that_say_what_they_carry(view: View) -> None:
    ribbons = re.findall(r'class="ribbon"[^>]*data-text="([^"]*)"', view.document)
    assert [html.unescape(text) for text in ribbons] == [
        "farmer_A → roaster_A: 40 kg for $190.00, $4.75/kg, 2 deals",
        "roaster_A → retailer_A: 8 kg for $80.00, $10.00/kg, 1 deal",
        "retailer_A → consumers: 5 kg for $90.00, $18.00/kg, 1 sale",
    ]


def test_debits_and_credits_are_shown_to_be_equal(view: View) -> None:
    assert "Debits and credits are equal: $225.388." in view.text()


def test_what_agents_wrote_is_shown_and_not_run(view: View) -> None:
    assert "<title>small, seed 7: a run of Hanse</title>" in view.document
    assert "taken" not in re.search(r"<title>.*?</title>", view.document)[0]  # type: ignore[index]
    assert " ".join(HOSTILE.split()) in view.text()
    assert "<img" not in view.document


def test_the_large_league_is_drawn_too(tmp_path: Path) -> None:
    view = look_at(write_report(large_run(tmp_path / "run")), tmp_path / "profile")
    assert view.complaints == []
    assert "This league has 300 firms." in view.text()
    assert "mean of farmers" in view.text()
    assert view.charts()[:2] == ["Net income, cumulative", "Cash"]


def test_the_standard_league_is_shown_with_the_figures_of_its_result(tmp_path: Path) -> None:
    config = standard().with_overrides(days=12, placement="inline")
    with League.create(config, tmp_path / "run") as league:
        result = league.run()
    view = look_at(write_report(tmp_path / "run"), tmp_path / "profile")
    assert view.complaints == []
    for firm in result.firms:
        sign = "−" if firm.net_income < 0 else ""
        income = f"{sign}${abs(firm.net_income):,.2f}"
        assert f"{firm.firm} {firm.role} {firm.strategy} {income}" in view.text()
    assert len(view.charts()) == 3 + 4 + 6 + 1  # money, prices, stock, messages
    assert result.log_sha256 in view.text()


READER = """
const seen = {};
const text = (node) => node.textContent.replace(/\\s+/g, " ").trim();
const labelled = (scope, label) => [...scope.querySelectorAll("label")]
  .find((l) => l.textContent === label).control;
const set = (control, value, event) => {
  control.value = value;
  control.dispatchEvent(new Event(event));
};
const press = (node, key) => node.dispatchEvent(new KeyboardEvent("keydown", { key }));
const firms = () => [...document.querySelectorAll("#results tbody th")].map(text);

[...document.querySelectorAll("#results thead button")].find((b) => text(b) === "Firm").click();
seen.by_name = firms();
[...document.querySelectorAll("#results thead button")].find((b) => text(b) === "Firm").click();
seen.by_name_down = firms();

const income = document.querySelector("#money figure");
press(income.querySelector("svg"), "End");
seen.last_day = text(income.querySelector(".tip"));
press(income.querySelector("svg"), "ArrowLeft");
seen.day_before = text(income.querySelector(".tip"));
seen.spoken = text(income.querySelector("[aria-live]"));
income.querySelector(".legend button").click();
seen.lines_left = income.querySelectorAll("path.line").length;

const trade = document.querySelector("#trade");
set(trade.querySelectorAll("input[type=range]")[0], 1, "input");
set(trade.querySelectorAll("input[type=range]")[1], 1, "input");
seen.trade_of_day_1 = text(trade.querySelector("[role=status]"));
trade.querySelector("input[value=money]").click();
seen.matrix = [...trade.querySelectorAll("tbody td")].map(text);

const messages = document.querySelector("#messages");
const type = labelled(messages, "Type");
set(type, [...type.options].find((o) => o.text === "letter").value, "change");
seen.letters = [...messages.querySelectorAll("table.matrix")][0].querySelector("tbody").textContent;

const events = document.querySelector("#events");
const kinds = () => [...events.querySelectorAll("tbody .kind")].map(text);
seen.kinds = kinds();
[...events.querySelectorAll(".chip")].find((c) => text(c).startsWith("refused commands")).click();
seen.more_kinds = kinds();
set(labelled(events, "Containing"), "harbour", "input");
seen.found = kinds();

const ledger = document.querySelector("#ledger");
set(labelled(ledger, "Books of"), "farmer_A", "change");
seen.balance = text(ledger.querySelector(".verdict"));
set(labelled(ledger, "Account"), [...labelled(ledger, "Account").options]
  .find((o) => o.text === "interest expense").value, "change");
seen.entries = [...ledger.querySelectorAll(".paged tbody tr")].map(text);
seen.sum = text(ledger.querySelector(".note"));

document.body.append(Object.assign(document.createElement("pre"), {
  id: "seen", textContent: JSON.stringify(seen),
}));
"""


@pytest.fixture(scope="module")
def seen(page: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What a reader sees who uses the controls: the page with a script that plays the reader."""
    folder = tmp_path_factory.mktemp("reader")
    text = re.sub(r'<meta http-equiv="Content-Security-Policy"[^>]*>', "", page.read_text())
    (folder / "page.html").write_text(text.replace("</body>", f"<script>{READER}</script></body>"))
    view = look_at(folder / "page.html", folder / "profile")
    assert view.complaints == []
    found = re.search(r'<pre id="seen">(.*?)</pre>', view.document, flags=re.DOTALL)
    assert found is not None
    return json.loads(html.unescape(found[1]))


def test_a_heading_sorts_the_table_and_sorts_it_back(seen: dict[str, Any]) -> None:
    assert seen["by_name"] == ["farmer_A", "retailer_A", "roaster_A"]
    assert seen["by_name_down"] == ["roaster_A", "retailer_A", "farmer_A"]


def test_the_keyboard_reads_a_chart_day_by_day(seen: dict[str, Any]) -> None:
    assert seen["last_day"] == "day 2retailer_A$1,234.50farmer_A$60.25roaster_A−$1,012.34"
    assert seen["day_before"] == "day 1retailer_A$250.00farmer_A$10.50roaster_A−$60.50"
    assert "roaster_A" in seen["spoken"]


def test_the_legend_hides_a_line(seen: dict[str, Any]) -> None:
    assert seen["lines_left"] == 2


def test_trade_can_be_narrowed_to_days_and_shown_as_money(seen: dict[str, Any]) -> None:
    assert seen["trade_of_day_1"] == (
        "Between firms: 1 deal, 8 kg, $80.00. To consumers: 0 kg, $0.00."
    )
    assert seen["matrix"] == ["$80.00", "$80.00"]


def test_messages_can_be_narrowed_to_a_type(seen: dict[str, Any]) -> None:
    assert seen["letters"] == "exchange11"  # one letter to the roaster, one in all


def test_events_can_be_chosen_by_kind_and_by_words(seen: dict[str, Any]) -> None:
    grave = ["lost shipment", "missed turn", "agent error", "refused mail", "comet", "bankruptcy"]
    assert seen["kinds"] == grave
    assert seen["more_kinds"] == ["refused command", *grave]
    assert seen["found"] == ["comet"]


def test_the_ledger_can_be_narrowed_to_a_firm_and_an_account(seen: dict[str, Any]) -> None:
    assert seen["balance"] == "Debits and credits are equal: $75.388."
    assert seen["entries"] == ["day 0, 09:00farmer_Ainterest expensecash$0.388I1"]
    assert seen["sum"] == (
        "1 entry, $0.388 in all; interest expense: debits $0.388, credits $0.00."
    )
