"""What a firm sees as a vector: named, bounded, and told apart by a digest."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest

from policies.environments.action_layout import ActionLayout
from policies.environments.observation_layout import ObservationLayout
from policies.environments.view import FirmView
from services.economy.catalogue import GREEN, ROLES, Role
from services.economy.rules import HANSE
from services.economy.setup import TownSetup
from services.errors import HanseError
from tests.policies.environments.playing import FIRMS, at_day

SETUP = TownSetup()


def _seen(role: Role, day: int = 12) -> tuple[ObservationLayout, FirmView, dict[str, float]]:
    episode = at_day(role, day)
    view = episode.conducts[FIRMS[role]].view
    assert view is not None
    layout = ObservationLayout(role, episode.setup)
    vector = layout.encode(view)
    return layout, view, dict(zip((f.name for f in layout.fields), map(float, vector), strict=True))


@pytest.mark.parametrize("role", ROLES)
def test_every_entry_is_within_its_bounds_and_has_a_name_of_its_own(role: Role) -> None:
    layout, view, _ = _seen(role)
    vector = layout.encode(view)
    assert vector.shape == (layout.size,) and vector.dtype == np.float32
    assert (vector >= layout.low).all() and (vector <= layout.high).all()
    assert len({f.name for f in layout.fields}) == layout.size


def test_money_is_on_a_logarithmic_scale_of_a_thousand_dollars() -> None:
    _, view, seen = _seen("roaster")
    assert view.books is not None
    assert seen["cash"] == pytest.approx(np.log1p(view.books.cash / 1_000))


def test_stock_is_a_share_of_the_store_and_prices_are_in_anchors() -> None:
    _, view, seen = _seen("roaster")
    assert view.books is not None and view.observation is not None
    assert seen[f"{GREEN}.stock"] == pytest.approx(
        view.books.stock[GREEN] / view.observation.stock_cap
    )
    asks = [r.asking_price for r in view.listings if r.item == GREEN and r.seller != view.firm]
    assert seen[f"{GREEN}.best_ask"] == pytest.approx(min(asks) / 2.0)  # it costs 2.00 to grow


def test_the_calendar_knows_the_festival() -> None:
    layout = ObservationLayout("roaster", SETUP)
    names = [f.name for f in layout.fields]

    def calendar(day: int) -> dict[str, float]:
        vector = layout.encode(FirmView("roaster_A", "roaster", day))
        return dict(zip(names, map(float, vector), strict=True))

    before, during, after = calendar(25), calendar(40), calendar(54)
    assert (before["festival"], during["festival"], after["festival"]) == (0, 1, 0)
    assert before["festival_in"] == pytest.approx(15 / 30)
    assert during["festival_left"] == pytest.approx(14 / 30)
    assert after["festival_in"] == after["festival_left"] == 0


def test_a_view_that_holds_nothing_is_encoded_too() -> None:
    layout = ObservationLayout("retailer", SETUP)
    vector = layout.encode(FirmView("retailer_A", "retailer", 0))
    assert np.isfinite(vector).all()


def test_a_huge_fortune_is_clipped() -> None:
    layout, view, _ = _seen("roaster")
    assert view.books is not None
    rich = view._replace(books=view.books.model_copy(update={"cash": 1e15}))
    assert layout.encode(rich)[7] == layout.high[7]


def test_a_number_that_is_none_is_refused() -> None:
    layout, view, _ = _seen("roaster")
    assert view.books is not None
    broken = view._replace(books=view.books.model_copy(update={"cash": float("nan")}))
    with pytest.raises(HanseError, match="observation: entry 7 is nan"):
        layout.encode(broken)


def test_descriptors_are_appended_only_where_they_are_asked_for() -> None:
    plain = ObservationLayout("roaster", SETUP)
    told = ObservationLayout("roaster", SETUP, ("profit", "waste"))
    view = FirmView("roaster_A", "roaster", 0)
    assert told.size == plain.size + 3
    assert told.encode(view, (0.25, 0.75, 0.5))[-3:].tolist() == [0.25, 0.75, 0.5]
    with pytest.raises(HanseError, match="0 descriptors; this layout takes 3"):
        told.encode(view)
    with pytest.raises(HanseError, match="2 descriptors; this layout takes 0"):
        plain.encode(view, (0.5, 0.5))


def test_the_digest_tells_layouts_apart() -> None:
    same = ObservationLayout("roaster", TownSetup(seed=9, days=30, rules=replace(HANSE)))
    digests = {ObservationLayout(role, SETUP).sha256 for role in ROLES}
    assert len(digests) == 3
    assert ObservationLayout("roaster", SETUP).sha256 == same.sha256
    dearer = SETUP.catalogue.with_changes({GREEN: {"unit_cost": 3_000_000}}, {})
    assert (
        ObservationLayout("roaster", TownSetup(catalogue=dearer)).sha256 != same.sha256
    )  # its anchors differ
    assert ObservationLayout("roaster", SETUP, ("profit",)).sha256 != same.sha256


def test_an_unknown_role_is_refused() -> None:
    with pytest.raises(HanseError, match="no role 'baker'; allowed: farmer, roaster, retailer"):
        ObservationLayout("baker", SETUP)  # type: ignore[arg-type]


def test_what_an_actor_needs_imports_neither_torch_nor_gymnasium_nor_ray() -> None:
    code = (
        "import sys, policies.environments.conduct, policies.environments.observation_layout;"
        "print([m for m in ('torch', 'gymnasium', 'ray', 'actors') if m in sys.modules])"
    )
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert told.stdout.strip() == "[]"


@pytest.mark.parametrize("role", ROLES)
def test_what_is_remembered_of_one_view_is_not_taken_for_another_s(role: Role) -> None:
    episode = at_day(role, 12)
    firm = FIRMS[role]
    layout = ObservationLayout(role, episode.setup)
    actions = ActionLayout(role, episode.setup.catalogue)
    days: list[FirmView] = []
    while len(days) < 8:
        view = episode.conducts[firm].view
        assert view is not None
        days.append(view)
        episode.levers[firm] = actions.values(actions.usual)
        episode.proceed()
    for view in [*days, *reversed(days), FirmView(firm, role, 3), days[2]]:
        anew = ObservationLayout(role, episode.setup)
        assert layout.encode(view).tobytes() == anew.encode(view).tobytes()
