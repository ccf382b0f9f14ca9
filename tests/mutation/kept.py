"""What became of the mutants, as docs/mutation.json and as a page."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from tests.mutation.draw import ROOT, Mutant
from tests.mutation.run import CAUGHT, SURVIVED

FILE = ROOT / "docs" / "mutation.json"
PAGE = ROOT / "docs" / "mutation.md"
STANDING_SHARE = 0.5
"""Of the mutants that are kept so many must still be changes of lines that are there (our choice:
a line that was edited or moved to another file does not make a run of hours worthless)."""


@dataclass(frozen=True)
class Tried:
    """A mutant with its outcome; `argument`: why one that survived means the same."""

    mutant: Mutant
    outcome: str
    argument: str = ""


@dataclass(frozen=True)
class Kept:
    """All mutants of a draw."""

    seed: int
    tried: tuple[Tried, ...]

    def text(self) -> str:
        """As JSON, a mutant per line."""
        rows = [
            json.dumps({**asdict(each.mutant), "outcome": each.outcome, "argument": each.argument})
            for each in self.tried
        ]
        lines = ",\n".join(rows)
        return f'{{"seed": {self.seed}, "mutants": [\n{lines}\n]}}\n'

    def stale(self) -> list[Mutant]:
        """Mutants whose lines are no longer in their file: the draw is about older source."""
        return [each.mutant for each in self.tried if not _stands(each.mutant)]

    def standing(self) -> list[Tried]:
        """The others."""
        return [each for each in self.tried if _stands(each.mutant)]

    @property
    def is_standing(self) -> bool:
        """Whether most of the draw is about the source as it stands (`STANDING_SHARE`)."""
        return len(self.standing()) >= STANDING_SHARE * len(self.tried)

    def open(self) -> list[Mutant]:
        """Survivors that nobody has argued."""
        return [t.mutant for t in self.tried if t.outcome == SURVIVED and not t.argument]


def _stands(mutant: Mutant) -> bool:
    path = ROOT / mutant.file
    return path.is_file() and f"\n{mutant.before}\n" in path.read_text(encoding="utf-8")


def read(path: Path = FILE) -> Kept:
    """What the file holds; nothing where there is none."""
    if not path.exists():
        return Kept(0, ())
    found = json.loads(path.read_text(encoding="utf-8"))
    rows = []
    for row in found["mutants"]:
        outcome, argument = row.pop("outcome"), row.pop("argument")
        rows.append(Tried(Mutant(**row), outcome, argument))
    return Kept(found["seed"], tuple(rows))


def page(kept: Kept, gone: int) -> str:
    """The page: counts per folder, then every survivor with its argument.

    `gone`: mutants whose lines have been edited or are gone.
    """
    lines = [
        "# Small mistakes in the source, and whether the tests notice",
        "",
        "Written by `python -m tests.mutation` (with `requirements-evidence.txt`; hours). It draws",
        "places in the source by seed, changes one at a time with an operator of cosmic-ray, and",
        "runs the everyday tests that execute the line, then all of their files. Places that",
        "differ in annotations, docstrings or `frozen` alone are passed over.",
        "",
        f"Seed {kept.seed}: {len(kept.tried)} mutants, "
        f"{sum(t.outcome == CAUGHT for t in kept.tried)} caught.",
        f"When this page was written, the lines of {gone} mutants had been edited or",
        "were gone: their outcomes are those of older source. `python -m tests.mutation --check`",
        "lists them; `--page` counts them again.",
        "",
        "| folder | mutants | caught | means the same |",
        "| --- | ---: | ---: | ---: |",
        *_rows(kept.tried),
        "",
        "## Those that no test noticed, and why they mean the same",
        "",
    ]
    for each in kept.tried:
        if each.outcome == SURVIVED:
            lines += _survivor(each)
    return "\n".join(lines) + "\n"


def _rows(tried: Sequence[Tried]) -> list[str]:
    folders = Counter("/".join(t.mutant.file.split("/")[:2]) for t in tried)
    caught = Counter("/".join(t.mutant.file.split("/")[:2]) for t in tried if t.outcome == CAUGHT)
    return [
        f"| `{folder}` | {count} | {caught[folder]} | {count - caught[folder]} |"
        for folder, count in sorted(folders.items())
    ]


def _survivor(each: Tried) -> list[str]:
    mutant = each.mutant
    changed = [*(f"- {line.strip()}" for line in mutant.before.splitlines())]
    changed += [*(f"+ {line.strip()}" for line in mutant.after.splitlines())]
    why = each.argument or "**Not argued yet.**"
    return [f"`{mutant.file}`", "", "```diff", *changed, "```", "", why, ""]
