"""Opening the page in a browser, and waiting until it shows what it was asked for."""

import json

from tests.browser import Tab

READY = "document.documentElement?.dataset.ready"


def opened(tab: Tab, address: str, place: str = "") -> Tab:
    tab.open(address + place, READY)
    return tab


def picked(tab: Tab, id: str) -> None:
    tab.wait_for(f"document.documentElement.dataset.picked === {json.dumps(id)}")


def on_day(tab: Tab, day: int) -> None:
    tab.wait_for(f"document.documentElement.dataset.day === '{day}'")
