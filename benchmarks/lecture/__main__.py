"""Write what the lecture is made of, or compare it.

python -m benchmarks.lecture            run everything, write results and printed pages
python -m benchmarks.lecture --pages    write the printed pages of the kept results
python -m benchmarks.lecture --check    run everything, compare
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from graphturbo_core.lecture.compute import compute_results
from graphturbo_core.lecture.printed.handout import handout_html
from graphturbo_core.lecture.printed.lesson import lesson_markdown
from graphturbo_core.lecture.printed.worksheet import worksheet_html
from graphturbo_core.lecture.results import FILE, LectureResults, json_text, kept_results

FOLDER = Path(__file__).resolve().parents[2] / "docs" / "lecture"


def pages(results: LectureResults) -> Mapping[Path, str]:
    """The printed pages by the file that each is written to."""
    return {
        FOLDER / "handout.html": handout_html(results),
        FOLDER / "worksheet.html": worksheet_html(results),
        FOLDER / "plan.md": lesson_markdown(results),
    }


def main(arguments: Sequence[str]) -> int:
    """1 where `--check` finds another text."""
    results = kept_results() if "--pages" in arguments else compute_results()
    texts = {FILE: json_text(results), **pages(results)}
    differing = [path for path, text in texts.items() if _kept(path) != text]
    if "--check" in arguments:
        for path in differing:
            print(f"{path.name} differs")
        return int(bool(differing))
    FOLDER.mkdir(exist_ok=True)
    for path in differing:
        path.write_text(texts[path], encoding="utf-8", newline="\n")
    return 0


def _kept(path: Path) -> str:
    return path.read_text(encoding="utf-8") if path.is_file() else ""


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
