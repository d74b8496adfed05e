from monitors.caspian.report.data import Alert
from monitors.caspian.report.judging import judge
from tests.monitors.caspian.report.samples import monitoring, report, truth


def alerts(*reports):
    return tuple(Alert(report=one) for one in reports)


def test_an_alert_after_the_onset_is_a_detection_and_its_delay_counts_ticks_with_traffic():
    """From the last hour of a day (42) to the fourth of the next (60); the night does not count."""
    shown = monitoring(truths=(truth(42),), alerts=alerts(report(tick=60, onset=58)))
    [verdict], others = judge(shown)
    assert (verdict.outcome, verdict.alert, others) == ("detected", "cascade-1", [])
    assert (verdict.delay, verdict.onset_error) == (4, 2)


def test_an_onset_estimated_too_early_has_a_negative_error():
    [verdict], _ = judge(monitoring(truths=(truth(60),), alerts=alerts(report(tick=62, onset=58))))
    assert verdict.onset_error == -2


def test_the_attribution_tells_the_place_of_the_true_one_among_the_suspects():
    [verdict], _ = judge(monitoring(truths=(truth(origin="mill", bridge="mill"),)))
    ranks = {one.role: (one.rank, one.true, one.state) for one in verdict.roles}
    assert ranks == {
        "origin": (2, "mill", "final"),
        "bridge": (1, "mill", "final"),
        "amplifier": (None, "shop", "pending"),
    }


def test_an_attack_without_an_alert_is_missed():
    [verdict], others = judge(monitoring(alerts=()))
    assert (verdict.outcome, verdict.alert, verdict.roles, others) == ("missed", None, (), [])


def test_a_benign_event_without_an_alert_is_rightly_quiet():
    [verdict], _ = judge(monitoring(alerts=(), truths=(truth(attack=False),)))
    assert verdict.outcome == "rightly quiet"


def test_an_alert_for_a_benign_event_is_a_false_alarm():
    [verdict], _ = judge(monitoring(truths=(truth(attack=False),)))
    assert (verdict.outcome, verdict.alert, verdict.roles) == ("false alarm", "cascade-1", ())


def test_an_alert_before_the_onset_belongs_to_nothing_that_was_done():
    [verdict], others = judge(monitoring(truths=(truth(65),)))
    assert (verdict.outcome, others) == ("missed", ["cascade-1"])


def test_an_alert_long_after_the_end_belongs_to_nothing_that_was_done():
    [verdict], others = judge(monitoring(truths=(truth(10, end=20 * 60),)))
    assert (verdict.outcome, others) == ("missed", ["cascade-1"])


def test_each_of_two_attacks_has_its_own_alert():
    shown = monitoring(
        truths=(truth(33), truth(60)),
        alerts=alerts(report(1, tick=35, onset=34), report(2, tick=62, onset=61)),
    )
    verdicts, others = judge(shown)
    assert [verdict.alert for verdict in verdicts] == ["cascade-1", "cascade-2"]
    assert others == []


def test_where_nothing_is_known_of_what_was_done_there_is_no_verdict():
    assert judge(monitoring(truths=())) == ([], ["cascade-1"])
