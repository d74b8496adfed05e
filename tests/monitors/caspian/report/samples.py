"""A run's monitoring, made up: small enough to read, with everything a page can show."""

from __future__ import annotations

from typing import Any

from monitors.caspian.alert import CascadeReport, Role, Spine, Suspect
from monitors.caspian.report.data import (
    Alert,
    Edge,
    Evidence,
    Monitoring,
    Node,
    Point,
    Taken,
    Truth,
)


def role(*agents: str, state: str = "final") -> Role:
    suspects = tuple(Suspect(agent=agent, score=9.0 - n) for n, agent in enumerate(agents))
    return Role(state=state, suspects=suspects)


def report(number: int = 1, tick: int = 60, onset: int = 57, **changes: Any) -> CascadeReport:
    values: dict[str, Any] = {
        "id": f"cascade-{number}",
        "alert_tick": tick,
        "reported_tick": tick + 4,
        "onset": onset,
        "kind": "abrupt",
        "score": 1.25,
        "statistics": {"q1.s": 5.0, "q1.S": 6.0},
        "thresholds": {"q1.s": 4.0, "q1.S": 9.0},
        "origin": role("farm", "mill"),
        "bridge": role("mill"),
        "amplifier": role(state="pending"),
        "spines": (Spine(path=("farm", "mill", "cafe"), bottleneck=2.5, channel="comm"),),
        "agents_flagged": 2,
        "calibration": "c0ffee",
        "evidence": ("farm#7",),
    }
    return CascadeReport.model_validate({**values, **changes})


def truth(onset_tick: int = 56, **changes: Any) -> Truth:
    values: dict[str, Any] = {
        "kind": "price_rumour",
        "onset": onset_tick * 60,
        "end": (onset_tick + 20) * 60,
        "origin": "farm",
        "bridge": "cafe",
        "amplifier": "shop",
    }
    return Truth(**{**values, **changes})


def monitoring(**changes: Any) -> Monitoring:
    points = [
        Point(
            tick=tick,
            events=10 + tick % 3,
            figures={"q1": 0.1, "q1.s": tick / 20, "q1.S": tick / 10} if tick >= 45 else {},
            score=tick / 50 if tick >= 45 else None,
            alarm=tick >= 60,
            flags=() if tick >= 45 else ("warm_up",),
            sampled=0.5 if tick == 50 else 1.0,
        )
        for tick in range(80)
        if tick % 24 in range(9, 19)
    ]
    values: dict[str, Any] = {
        "name": "coffee",
        "run": "runs/coffee",
        "seed": 7,
        "tick_minutes": 60,
        "calibration": "c0ffee",
        "thresholds": {"q1.s": 4.0, "q1.S": 9.0},
        "points": points,
        "alerts": (
            Alert(
                report=report(),
                revisions=2,
                infected=(
                    Edge(source="farm", target="mill", messages=9, weight=4.5, channel="comm"),
                ),
                evidence=(
                    Evidence(
                        id="farm#7",
                        minute=3_400,
                        sender="farm",
                        recipient="mill",
                        channel="comm",
                        type="market_note",
                        text="beans double in huila",
                    ),
                ),
            ),
        ),
        "measures": (
            Taken(
                id="m1",
                kind="quarantine",
                agent="farm",
                begin=3_700,
                end=4_200,
                how="ended",
                reason="cascade-1",
                by="containment",
            ),
        ),
        "nodes": [
            Node(name="farm", group="north", kind="farmer"),
            Node(name="mill", group="north", kind="roaster"),
            Node(name="cafe", group="south", kind="retailer"),
            Node(name="shop", group="south", kind="retailer"),
        ],
        "edges": [
            Edge(source="farm", target="mill", messages=30),
            Edge(source="mill", target="cafe", messages=20),
            Edge(source="cafe", target="shop"),
        ],
        "truths": (truth(),),
        "wrong": ((56 * 60, 2), (60 * 60, 3), (62 * 60, 0)),
        "recovery": ("firms believing something wrong: none of 4 at the end",),
        "dropped": {"no JSON object": 3},
        "passed_over": {"unanswered": 4},
    }
    return Monitoring.model_validate({**values, **changes})
