"""What passes and what does not."""

import pytest

from monitors.caspian.benchmark import attributing
from monitors.caspian.benchmark.detectors import (
    CASPIAN,
    CONDITIONAL,
    DETECTORS,
    LITERAL,
    UNCONDITIONAL,
)
from monitors.caspian.benchmark.judging import checks, claims
from monitors.caspian.benchmark.results import Attribution, Detection, Estimate, Setting


def sure(value: float | None) -> Estimate:
    return Estimate(value=value, low=value, high=value)


def row(detector: str, **changes: object) -> Detection:
    good: dict[str, object] = {
        "detector": detector,
        "auroc": sure(0.97),
        "tpr": sure(0.93),
        "false_alarms": sure(0.08),
        "false_alarms_by_kind": {"steady": 0.03, "burst": 0.5, "shock": 0.2, "handoff": 0.2},
        "false_alarms_by_seed": [0.15, 0.0],
        "edr5": sure(0.45),
        "edr10": sure(0.9),
        "abrupt_delay": sure(7),
        "gradual_tpr": sure(0.88),
        "gradual_delay": sure(33),
        "before_onset": 0.0,
    }
    return Detection.model_validate(good | changes)


def roles(method: str, kind: str, *values: float) -> Attribution:
    origin, bridge, amplifier = map(sure, values)
    return Attribution(
        method=method, kind=kind, cascades=9, origin=origin, bridge=bridge, amplifier=amplifier
    )


def detections(**changes: object) -> list[Detection]:
    """Rows in which CASPIAN-R just passes everything, but for what is changed."""
    worse = {"edr5": sure(0.35), "auroc": sure(0.974)}
    ours = (CASPIAN, CONDITIONAL)
    found = [
        row(one.name, **changes if one.name in ours else {})
        for one in DETECTORS
        if one.name != UNCONDITIONAL
    ]
    return [row(UNCONDITIONAL, **worse), *found]


def attributions(**changes: tuple[float, float, float]) -> list[Attribution]:
    values = {
        "robust": (0.7, 0.6, 0.5),
        "formulas": (0.35, 0.5, 0.25),
        "slow": (0.45, 0.0, 0.0),
        "slow_formulas": (0.2, 0.0, 0.0),
    } | changes
    return [
        roles(attributing.ROBUST, "abrupt", *values["robust"]),
        roles(attributing.PAPER, "abrupt", *values["formulas"]),
        roles(attributing.ROBUST, "gradual", *values["slow"]),
        roles(attributing.PAPER, "gradual", *values["slow_formulas"]),
    ]


def failed(rows: list[Detection], blamed: list[Attribution]) -> set[str]:
    return {check.id for check in checks(rows, blamed) if not check.passed}


def test_what_just_meets_every_requirement_passes() -> None:
    assert [check.id for check in checks(detections(), attributions())] == [
        "A1",
        "A2",
        "A3",
        "A4",
        "A5",
        "A6",
        "A7",
    ]
    assert failed(detections(), attributions()) == set()


KINDS = {"steady": 0.0, "burst": 0.0, "shock": 0.0, "handoff": 0.0}


@pytest.mark.parametrize(
    ("changes", "fails"),
    [
        ({"auroc": sure(0.9695)}, {"A1"}),
        ({"auroc": sure(0.96)}, {"A1", "A7"}),
        ({"tpr": sure(0.92)}, {"A2"}),
        ({"false_alarms": sure(0.09)}, {"A3"}),
        ({"false_alarms_by_seed": [0.0, 0.16]}, {"A3"}),
        ({"false_alarms_by_kind": KINDS | {"shock": 0.21}}, {"A3"}),
        ({"false_alarms_by_kind": KINDS | {"steady": 0.04}}, {"A3"}),
        ({"edr5": sure(0.44)}, {"A4", "A7"}),
        ({"edr10": sure(0.89)}, {"A4"}),
        ({"abrupt_delay": sure(8)}, {"A4"}),
        ({"abrupt_delay": sure(None)}, {"A4"}),
        ({"gradual_tpr": sure(0.87)}, {"A5"}),
        ({"gradual_delay": sure(34)}, {"A5"}),
    ],
)
def test_each_requirement_of_detection_fails_by_itself(
    changes: dict[str, object], fails: set[str]
) -> None:
    assert failed(detections(**changes), attributions()) == fails


@pytest.mark.parametrize(
    "changes",
    [
        {"robust": (0.69, 0.6, 0.5)},
        {"robust": (0.7, 0.54, 0.5)},
        {"robust": (0.7, 0.6, 0.49)},
        {"formulas": (0.36, 0.5, 0.25)},
        {"formulas": (0.35, 0.51, 0.25)},
        {"slow": (0.44, 0.0, 0.0)},
        {"slow_formulas": (0.23, 0.0, 0.0)},
    ],
)
def test_each_requirement_of_attribution_fails_by_itself(
    changes: dict[str, tuple[float, float, float]],
) -> None:
    assert failed(detections(), attributions(**changes)) == {"A6"}


def test_where_nobody_can_be_right_twice_as_often_errors_must_be_halved() -> None:
    formulas = (0.6, 0.5, 0.25)

    assert failed(detections(), attributions(robust=(0.8, 0.6, 0.5), formulas=formulas)) == set()
    assert failed(detections(), attributions(robust=(0.79, 0.6, 0.5), formulas=formulas)) == {"A6"}


def verdict(text: str, rows: list[Detection], settings: list[Setting] | None = None) -> str:
    verdicts = checks(rows, attributions())
    found = claims(rows, attributions(), settings or [], verdicts)
    return next(claim.verdict for claim in found if text in claim.claim)


def test_every_claim_of_the_paper_has_a_verdict() -> None:
    rows = detections()

    assert len(claims(rows, attributions(), [], checks(rows, attributions()))) == 8


def test_spectral_signals_are_refuted_by_a_literal_mode_at_chance() -> None:
    rows = [
        one if one.detector != LITERAL else row(LITERAL, auroc=sure(0.55)) for one in detections()
    ]

    assert verdict("spectral", rows) == "refuted" and verdict("spectral", detections()) == "holds"


def test_an_advantage_within_the_intervals_is_none() -> None:
    wide = Estimate(value=0.98, low=0.9, high=1.0)

    assert verdict("graph-based", detections(auroc=wide)) == "refuted"


@pytest.mark.parametrize(
    ("edr5", "auroc", "expected"),
    [(0.2, 0.8, "holds"), (0.2, 0.97, "holds in part"), (0.45, 0.97, "refuted")],
)
def test_channels_are_essential_if_comm_alone_is_slower_and_blinder(
    edr5: float, auroc: float, expected: str
) -> None:
    settings = [
        Setting(group="channels", name="all four", detection=row(CASPIAN)),
        Setting(
            group="channels",
            name="comm only",
            detection=row(CASPIAN, edr5=sure(edr5), auroc=sure(auroc)),
        ),
    ]

    assert verdict("cross-channel", detections(), settings) == expected


def test_what_was_not_measured_is_not_judged() -> None:
    assert verdict("cross-channel", detections()) == "not measured here"
    assert verdict("latency", detections()) == "not measured here"
