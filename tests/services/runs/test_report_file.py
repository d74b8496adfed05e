"""The report as a file: where it lies, that it loads nothing, that nothing breaks out of it."""

import base64
import errno
import hashlib
import json
import os
import re
from html.parser import HTMLParser
from pathlib import Path

import pytest

from services.errors import HanseError
from services.runs.report import as_script_text, write_report
from tests.services.runs.report_runs import HOSTILE, small_run


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return small_run(tmp_path_factory.mktemp("runs") / "small")


@pytest.fixture(scope="module")
def page(small: Path) -> str:
    return write_report(small).read_text(encoding="utf-8")


class Outline(HTMLParser):
    """The page as a browser takes it apart."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.texts: dict[int, str] = {}
        self._open = False
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        self._open = True

    def handle_endtag(self, tag: str) -> None:
        self._open = False

    def handle_data(self, data: str) -> None:
        if self._open:
            last = len(self.elements) - 1
            self.texts[last] = self.texts.get(last, "") + data

    def all(self, tag: str) -> list[tuple[dict[str, str | None], str]]:
        return [
            (attributes, self.texts.get(index, ""))
            for index, (name, attributes) in enumerate(self.elements)
            if name == tag
        ]


# ---- the file ----


def test_the_page_lies_in_the_run_folder_unless_another_place_is_named(
    small: Path, tmp_path: Path
) -> None:
    assert write_report(small) == small / "report.html"
    assert write_report(small, tmp_path / "elsewhere.html") == tmp_path / "elsewhere.html"
    assert (tmp_path / "elsewhere.html").read_bytes() == (small / "report.html").read_bytes()


def test_the_page_of_a_run_is_the_same_to_the_byte_each_time(small: Path) -> None:
    assert write_report(small).read_bytes() == write_report(small).read_bytes()


def test_the_page_is_as_readable_for_others_as_any_new_file(small: Path, tmp_path: Path) -> None:
    (tmp_path / "ordinary").touch()
    page = write_report(small, tmp_path / "page.html")
    assert page.stat().st_mode == (tmp_path / "ordinary").stat().st_mode


def test_a_folder_without_a_run_is_refused(tmp_path: Path) -> None:
    with pytest.raises(HanseError, match="not a run folder"):
        write_report(tmp_path)


def test_a_folder_as_target_is_refused(small: Path, tmp_path: Path) -> None:
    with pytest.raises(HanseError, match="is a folder; name the file"):
        write_report(small, tmp_path)


def test_a_target_in_a_missing_folder_is_refused(small: Path, tmp_path: Path) -> None:
    with pytest.raises(HanseError, match=r"missing/page\.html: the report cannot be written"):
        write_report(small, tmp_path / "missing" / "page.html")


def test_a_full_disk_leaves_the_older_report_whole(
    small: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = tmp_path / "page.html"
    target.write_text("older")

    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "replace", full)
    with pytest.raises(HanseError, match="No space left on device"):
        write_report(small, target)
    assert target.read_text() == "older"
    assert os.listdir(tmp_path) == ["page.html"]


# ---- nothing comes in from outside, nothing breaks out ----


def test_the_page_names_no_address_but_that_of_the_svg_names(page: str) -> None:
    assert set(re.findall(r"\w+://[^\"'\s)]+", page)) == {"http://www.w3.org/2000/svg"}


def test_the_page_loads_nothing(page: str) -> None:
    outline = Outline(page)
    assert all("src" not in attributes for _, attributes in outline.elements)
    links = [a["href"] for _, a in outline.elements if "href" in a]
    assert links == ["data:,", "#results"]
    assert "@import" not in page
    assert "url(" not in page


def test_the_page_allows_its_own_script_only(page: str) -> None:
    outline = Outline(page)
    policy = next(
        attributes["content"] or ""
        for attributes, _ in outline.all("meta")
        if attributes.get("http-equiv") == "Content-Security-Policy"
    )
    script = outline.all("script")[1][1]
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    assert "default-src 'none'" in policy
    assert f"script-src 'sha256-{digest}';" in policy


def test_what_agents_write_cannot_end_the_data_or_become_an_element(page: str) -> None:
    outline = Outline(page)
    assert [attributes.get("type") for attributes, _ in outline.all("script")] == [
        "application/json",
        None,
    ]
    assert outline.all("img") == []
    assert "onerror=alert" in page  # it is there, as text
    assert HOSTILE not in page


def test_what_agents_write_is_in_the_data_letter_for_letter(page: str) -> None:
    data = json.loads(Outline(page).all("script")[0][1])
    assert data["messages"]["letters"] == [[630, "farmer_A", "roaster_A", "a plan", HOSTILE]]


@pytest.mark.parametrize(
    "text", ["</script>", "<!--", "]]>", "&lt;", "\u2028", "\ud800", "{{data}}"]
)
def test_the_data_is_inert_in_a_page_and_keeps_every_character(text: str) -> None:
    written = as_script_text({text: [text]})
    assert not set(written) & set("<>&")
    assert written.isascii()
    assert json.loads(written) == {text: [text]}


def test_figures_that_are_no_numbers_become_gaps() -> None:
    assert as_script_text([1.5, float("nan"), float("inf"), (2,)]) == "[1.5,null,null,[2]]"


def test_a_run_that_speaks_of_placeholders_is_left_alone(tmp_path: Path) -> None:
    folder = small_run(tmp_path / "run", talk="{{script}} {{style}}")
    data = json.loads(Outline(write_report(folder).read_text()).all("script")[0][1])
    assert data["messages"]["letters"][0][4] == "{{script}} {{style}}"
