"""Errors on the page, and what went wrong without being one: counted, coloured, filtered."""

import json

import pytest

from tests.browser import Tab, needs_browser
from tests.services.telemetry.view.looking import on_day, opened, picked

pytestmark = needs_browser


def only(tab: Tab, words: str) -> None:
    """Ticks a filter of the log."""
    tab.ask(
        "[...document.querySelectorAll('.log label.tick')]"
        f".find((n) => n.textContent.trim() === {json.dumps(words)}).click()"
    )


def test_the_header_tells_errors_from_what_is_none(tab: Tab, address: str) -> None:
    opened(tab, address, "#day=1")
    on_day(tab, 1)
    assert "1 error · 1 refused command, 1 lost delivery, 1 late delivery" in tab.text(".day-title")
    assert "2 errors · 1 refused command, 1 lost delivery, 1 late" in tab.text("header .facts")


@pytest.mark.parametrize(
    ("day", "words", "id"),
    [
        (0, "errors only", f"span {'b' * 16}"),
        (1, "errors only", "exchange!9"),
        (1, "refused", "exchange!6"),
    ],
)
def test_a_filter_lists_as_many_as_the_header_counts(
    tab: Tab, address: str, day: int, words: str, id: str
) -> None:
    opened(tab, address, f"#day={day}&view=log")
    only(tab, words)
    tab.wait_for("document.querySelectorAll('.row').length === 1")
    assert tab.text(".row .which").startswith(f"{id} ·")


def test_both_filters_list_errors_and_refusals(tab: Tab, address: str) -> None:
    opened(tab, address, "#day=1&view=log")
    only(tab, "errors only")
    only(tab, "refused")
    tab.wait_for("document.querySelectorAll('.row').length === 2")


def test_lost_and_late_deliveries_are_found_as_such(tab: Tab, address: str) -> None:
    opened(tab, address, "#day=1&view=log")
    tab.ask(
        "(() => { const s = document.querySelector('.log select'); s.value = 'astray';"
        " s.dispatchEvent(new Event('change')); })()"
    )
    tab.wait_for("document.querySelectorAll('.row').length === 2")
    assert tab.ask("document.querySelectorAll('.row .warn').length") == 2


def test_only_errors_are_red(tab: Tab, address: str) -> None:
    opened(tab, address, "#day=1&view=log")
    assert tab.ask("document.querySelectorAll('.row .what.bad').length") == 2  # and its message
    opened(tab, address, "#day=1&id=farmer_A%233")
    picked(tab, "farmer_A#3")
    assert tab.ask("document.querySelector('#details h2').className") == "warn"
    assert "errors refused, lost or late" in tab.text(".waterfall .keys")
