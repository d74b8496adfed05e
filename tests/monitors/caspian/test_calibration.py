"""Thresholds are order statistics of what benign segments reach, and a file that can be trusted."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from monitors.caspian.calibration import Calibration, Profile, calibrate, calibrate_jointly
from monitors.caspian.monitor import Caspian
from monitors.caspian.settings import Settings
from monitors.caspian.sparse import Reference
from services.errors import HanseError
from tests.monitors.caspian.traffic import ring

PROFILE = Profile(
    channel_mean=(0.1, 0.2, 0.3, 0.4),
    channel_variance=(1.0, 1.0, 1.0, 1.0),
    reference_mean={"q1": 0.0, "q2": 1.0, "q3": 0.5},
    reference_deviation={"q1": 1.0, "q2": 0.5, "q3": 0.5},
)


def made(**values: object) -> Calibration:
    maxima = [{"q1.s": i / 10, "q1.S": float(i)} for i in range(1, 161)]
    return Calibration.of(maxima, **values)  # type: ignore[arg-type]


def test_the_threshold_is_the_next_higher_order_statistic() -> None:
    # 19 segments at 5 %: rank ceil(20 * 0.95) = 19, the largest of them.
    assert calibrate(np.arange(1.0, 20.0)[:, None])[0] == 19.0
    # 160 segments, two statistics: rank ceil(161 * 0.975) = 157.
    assert calibrate(np.repeat(np.arange(1.0, 161.0)[:, None], 2, axis=1)).tolist() == [157, 157]


def test_too_few_segments_are_refused_with_the_number_it_takes() -> None:
    assert calibrate(np.ones((39, 2))).tolist() == [1.0, 1.0]
    with pytest.raises(HanseError, match="at least 39"):
        calibrate(np.ones((38, 2)))


@pytest.mark.parametrize("level", [0.0, 1.0, float("nan")])
def test_a_level_that_is_no_share_is_refused(level: float) -> None:
    with pytest.raises(HanseError, match="share between 0 and 1"):
        calibrate(np.ones((50, 1)), level)


def test_maxima_that_are_no_numbers_are_refused() -> None:
    with pytest.raises(HanseError, match="finite"):
        calibrate([[float("nan")]] * 50)


@given(st.integers(0, 2**32 - 1), st.integers(1, 3), st.sampled_from([0.05, 0.1, 0.2]))
def test_the_false_alarm_rate_is_at_most_the_level(seed: int, columns: int, level: float) -> None:
    # Exchangeable segments: leave each out in turn; over all it is exactly the conformal bound.
    maxima = np.random.default_rng(seed).standard_normal((80, columns)) + 5
    alarms = 0
    for left_out in range(80):
        others = np.delete(maxima, left_out, axis=0)
        alarms += bool((maxima[left_out] >= calibrate(others, level)).any())
    assert alarms / 80 <= level + 1e-9


def test_a_file_is_read_back_the_same(tmp_path: Path) -> None:
    calibration = made(profile=PROFILE, graph=ring())
    calibration.save(tmp_path / "calibration.json")
    again = Calibration.load(tmp_path / "calibration.json")
    assert again == calibration
    assert again.id == calibration.id


def test_the_id_depends_on_everything() -> None:
    assert (
        len({made().id, made(level=0.1).id, made(graph=ring()).id, made(profile=PROFILE).id}) == 4
    )


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda text: text[:50], "damaged"),
        (lambda text: "[]", "no table"),
        (lambda text: text.replace('"level": 0.05', '"level": 0.06'), "id does not fit"),
        (lambda text: text.replace('"level": 0.05', '"level": 7'), "level"),
        (lambda text: text.replace('"version": 1', '"version": 9'), "version 9, not 1"),
        (lambda text: json.dumps({**json.loads(text), "colour": "red"}), "colour"),
    ],
)
def test_a_damaged_file_is_refused_in_one_line(
    tmp_path: Path, damage: object, message: str
) -> None:
    path = tmp_path / "calibration.json"
    made().save(path)
    path.write_text(damage(path.read_text()))  # type: ignore[operator]
    with pytest.raises(HanseError, match=message) as error:
        Calibration.load(path)
    assert "\n" not in str(error.value)


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(HanseError, match=r"nowhere\.json"):
        Calibration.load(tmp_path / "nowhere.json")


def test_it_does_not_fit_another_graph_other_settings_or_other_statistics() -> None:
    with pytest.raises(HanseError, match="another possibility graph"):
        Caspian(ring(9), made(graph=ring(8)))
    with pytest.raises(HanseError, match="other settings"):
        Caspian(ring(), made(), Settings(memory=50))
    with pytest.raises(HanseError, match=r"thresholds of q9\.S"):
        Caspian(ring(), Calibration.of([{"q9.S": 1.0}] * 40))


def test_thresholds_that_share_a_level_are_reached_by_that_share_of_new_segments() -> None:
    rng = np.random.default_rng(5)
    common = rng.exponential(1.0, (400, 1))
    maxima = np.array([1.0, 10.0, 100.0]) * (common + 0.3 * rng.exponential(1.0, (400, 3)))
    known, new = maxima[:200], maxima[200:]
    jointly = (new >= calibrate_jointly(known)).any(axis=1).mean()
    dealt_out = (new >= calibrate(known)).any(axis=1).mean()
    assert 0.02 <= jointly <= 0.09
    assert dealt_out < jointly, "as the statistics rise together"


def test_each_statistic_is_measured_by_its_own_unit() -> None:
    maxima = np.random.default_rng(6).exponential(1.0, (100, 2))
    one, other = calibrate_jointly(maxima * [1.0, 100.0])
    again, scaled = calibrate_jointly(maxima * [1.0, 1000.0])
    assert scaled == pytest.approx(10 * other)
    assert again == pytest.approx(one)


def test_a_reference_of_benign_scores_is_kept_in_the_file(tmp_path: Path) -> None:
    reference = Reference.of(np.full((4, 180), 7))
    calibration = Calibration.of([{"sparse.all": 1.0}] * 40, reference=reference, jointly=True)
    calibration.save(tmp_path / "c.json")
    assert Calibration.load(tmp_path / "c.json") == calibration


def test_short_sessions_need_a_profile() -> None:
    with pytest.raises(HanseError, match="profile"):
        made(short=True)


def test_a_profile_of_many_adds_what_lies_between_segments_to_the_deviation() -> None:
    other = PROFILE.model_copy(update={"reference_mean": {"q1": 2.0, "q2": 1.0, "q3": 0.5}})
    both = Profile.mean_of([PROFILE, other])
    assert both.reference_mean["q1"] == 1.0
    assert both.reference_deviation["q1"] == pytest.approx(np.sqrt(2.0))
    assert both.reference_deviation["q2"] == 0.5
    with pytest.raises(HanseError, match="at least one"):
        Profile.mean_of([])
