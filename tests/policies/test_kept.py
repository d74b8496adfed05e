from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path

from policies.kept import kept


@dataclass(frozen=True)
class Part:
    figure: float
    figures: tuple[float, ...]


def made(path: Path | None, made_with: object, figure: float) -> tuple[Part, ...]:
    return kept(path, tuple[Part, ...], made_with, lambda: (Part(figure, (figure,)),))


def test_a_finished_part_is_not_made_again(tmp_path: Path) -> None:
    path = tmp_path / "folder" / "part.json"
    first = made(path, "settings", 1.0)
    assert made(path, "settings", 2.0) == first == (Part(1.0, (1.0,)),)


def test_other_settings_are_another_part(tmp_path: Path) -> None:
    path = tmp_path / "part.json"
    made(path, "settings", 1.0)
    assert made(path, "others", 2.0)[0].figure == 2.0


def test_a_file_that_was_half_written_is_made_anew(tmp_path: Path) -> None:
    path = tmp_path / "part.json"
    made(path, "settings", 1.0)
    path.write_text(path.read_text()[:-5])
    assert made(path, "settings", 2.0)[0].figure == 2.0


def test_a_figure_that_is_none_comes_back_as_none(tmp_path: Path) -> None:
    path = tmp_path / "part.json"
    made(path, "settings", math.nan)
    assert math.isnan(made(path, "settings", 2.0)[0].figure)
