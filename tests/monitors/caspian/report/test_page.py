import json
import re

import pytest

from monitors.caspian.report import render, write_page
from monitors.caspian.report.data import Alert, Node
from services.errors import HanseError
from tests.browser import look_at, needs_browser
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
