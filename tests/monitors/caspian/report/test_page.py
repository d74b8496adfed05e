import json
import re

import pytest

from monitors.caspian.report import render, write_page
from monitors.caspian.report.data import Alert, Node
from services.errors import HanseError
from tests.browser import browser, look_at, needs_browser
from tests.monitors.caspian.report.samples import monitoring, report

EVIL = "</script><script>alert(1)</script><b>"


def test_the_page_needs_nothing_but_itself():
    page = render(monitoring())
    assert "default-src 'none'" in page
    assert not re.search(r"(src|href)\s*=\s*[\"']?(https?:)?//", page)


def test_the_same_data_give_the_same_page():
    assert render(monitoring()) == render(monitoring())


def test_nothing_that_agents_say_is_read_as_markup():
    shown = monitoring(name=EVIL, nodes=[Node(name=EVIL)], run=EVIL)
    page = render(shown)
    assert EVIL not in page
    [data] = re.findall(r'<script type="application/json"[^>]*>(.*?)</script>', page, re.DOTALL)
    assert json.loads(data)["name"] == EVIL


def test_figures_that_are_not_finite_are_left_out():
    shown = monitoring(alerts=(Alert(report=report(score=float("nan"))),))
    assert "NaN" not in re.findall(r'application/json"[^>]*>(.*?)<', render(shown), re.DOTALL)[0]


def test_a_page_is_written_whole(tmp_path):
    target = write_page(tmp_path / "monitor.html", monitoring())
    assert target.read_text(encoding="utf-8") == render(monitoring())
    assert [path.name for path in tmp_path.iterdir()] == ["monitor.html"]


def test_a_page_that_cannot_be_written_says_so(tmp_path):
    with pytest.raises(HanseError, match="is a folder"):
        write_page(tmp_path, monitoring())
    with pytest.raises(HanseError, match="cannot be written"):
        write_page(tmp_path / "none" / "monitor.html", monitoring())


@pytest.fixture(scope="module")
def view(tmp_path_factory):
    folder = tmp_path_factory.mktemp("page")
    page = write_page(folder / "monitor.html", monitoring())
    return look_at(page, folder / "profile")


class TestInABrowser:
    pytestmark = needs_browser

    def test_it_has_no_complaints(self, view):
        assert view.complaints == []

    def test_it_says_first_how_it_went(self, view):
        assert "The price rumour of day 2, 08:00 was detected after" in view.text()
        assert "1 of 3 parts (origin right, bridge wrong and amplifier wrong)" in view.text()

    def test_the_signals_have_thresholds_and_marks(self, view):
        for kind in ("threshold", "marker alert", "marker guess", "marker true", "warm", "alarmed"):
            assert f'class="{kind}"' in view.document
        assert view.document.count('class="measure"') == 1

    def test_the_graph_marks_suspects_the_infected_edge_and_the_spine(self, view):
        assert re.search(r'class="agent origin touched"[^>]*data-name="farm"', view.document)
        assert view.document.count('class="spread"') == 1
        assert view.document.count('class="spine"') == 2
        assert "true amplifier" in view.text()

    def test_an_alert_shows_suspects_evidence_and_the_command_to_ask_why(self, view):
        text = view.text()
        assert "farm 9.00 , mill 8.00" in text
        assert "nobody yet" in text
        assert "beans double in huila" in text
        assert "hanse trace runs/coffee why 'farm#7'" in text

    def test_measures_losses_and_samples_are_told(self, view):
        text = view.text()
        assert "farm quarantine all day 2, 13:40 day 2, 22:00 by itself cascade-1" in text
        assert "no JSON object 3" in text
        assert "unanswered 4" in text

    def test_it_says_whether_the_firms_have_recovered(self, view):
        assert "Firms believing something wrong: none of 4 at the end." in view.text()

    def test_an_alert_is_known_at_the_end_of_its_tick_as_the_log_has_it(self, view):
        assert report().alert_tick == 2 * 24 + 12
        assert "Alert at day 2, 13:00, 1.25 times the threshold" in view.text()

    @pytest.mark.parametrize(
        "word",
        [
            *("tick", "event", "score", "threshold", "warm-up", "onset", "alert", "s and S"),
            *("origin", "bridge", "amplifier", "excess", "spine", "score of a suspect", "end"),
        ],
    )
    def test_the_words_of_charts_and_tables_are_explained(self, view, word):
        assert f"<dt>{word}</dt><dd>" in view.document

    def test_every_pane_has_a_unit_and_the_axis_of_time_says_what_it_counts(self, view):
        text = view.text()
        for pane in (
            "Score times the threshold",
            "This tick alone (s) standard deviations",
            "Adding up (S) standard deviations",
            "Events in a tick",
            "Believing something wrong firms",
        ):
            assert pane in text
        assert "day of the run; ticks in which nobody talks are left out" in text

    def test_the_legend_has_all_marks(self, view):
        text = view.text()
        for mark in (
            "threshold (of several: in its line's colour)",
            "warm-up: no alarm yet",
            "a cascade is going on",
            "measure in force",
            "can reach",
            "touched",
        ):
            assert mark in text

    def test_on_a_narrow_page_towns_stand_in_a_column_and_nothing_is_cut_off(self, tmp_path):
        page = write_page(tmp_path / "monitor.html", monitoring())
        with browser(tmp_path / "profile") as tab:
            for width, columns in ((420, 1), (1200, 0)):
                tab.size(width)
                tab.open(
                    page.as_uri(),
                    "document.documentElement && document.documentElement.dataset.ready === 'yes'",
                )
                assert tab.ask("document.querySelectorAll('.web.column').length") == columns
                assert tab.ask("document.documentElement.scrollWidth") <= width
                names = tab.ask(
                    "[...document.querySelectorAll('.web .name, .web .truth-name')].map((n) =>"
                    " { const b = n.getBoundingClientRect(); return [b.left, b.right]; })"
                )
                assert len(names) >= 4
                assert all(left >= 0 and right <= width for left, right in names)
            tab.size(420)
            tab.wait_for("document.querySelector('.web.column')")
            assert tab.complaints == []

    @pytest.mark.parametrize(
        ("changes", "says"),
        [
            ({"points": (), "alerts": (), "truths": ()}, "has not seen any traffic"),
            ({"calibration": None, "alerts": ()}, "no calibration"),
            ({"alerts": (), "truths": ()}, "No alert was raised."),
            ({"truths": ()}, "Nothing is known of what was done"),
            ({"alerts": ()}, "was missed"),
            ({"nodes": [], "edges": []}, "was detected"),
        ],
    )
    def test_a_page_with_less_in_it_is_a_page(self, changes, says, tmp_path):
        page = write_page(tmp_path / "page.html", monitoring(**changes))
        view = look_at(page, tmp_path / "profile")
        assert view.complaints == []
        assert says in view.text()

    def test_every_statistic_that_can_raise_the_alarm_is_drawn_with_its_threshold(self, tmp_path):
        usual = monitoring()
        points = [
            point.model_copy(update={"figures": {**point.figures, "sparse.all": 1.0}})
            for point in usual.points
        ]
        limits = {**usual.thresholds, "sparse.all": 5.0}
        page = write_page(tmp_path / "page.html", monitoring(points=points, thresholds=limits))
        view = look_at(page, tmp_path / "profile")
        assert "threshold of sparse.all: 5.00" in view.text()
        # The score's, and one for each statistic.
        assert view.document.count('class="threshold"') == 1 + len(limits)
