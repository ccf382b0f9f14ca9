"""`python -m benchmarks.site.contract_page [--check]`: docs/json-contract.md, from the types."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence

from benchmarks.site.contract_types import RUN, Key, keys
from benchmarks.site.contract_words import WORDS
from benchmarks.site.places import DOCS
from graphturbo_core.report.contract import SCHEMA

PAGE = DOCS / "json-contract.md"
INTRO = f"""# JSON of a run

Written by `python -m benchmarks.site.contract_page` from `graphturbo_core/report/contract.py`; a
test compares.

`run MODEL --json FILE` writes one object; `-` is stdout. Its `schema` is {SCHEMA}. A key ends with
its unit: `_s` seconds, `_bytes` bytes, `_per_s` per second. Shares are numbers from 0 to 1. Equal
runs give equal bytes, except `steps` and `schedule_seconds`, which are read from the clock.

`compare --save FILE` and `--json FILE` keep several runs. `sweep --json FILE` has the single
numbers of the first table.
"""


def page() -> str:
    """Text of docs/json-contract.md.

    Raises:
        ValueError: a key has no words, or words have no key.
    """
    found = keys()
    check(found)
    return "\n".join([INTRO, *_sections(found)])


def check(found: Sequence[Key]) -> None:
    """Check that exactly the keys of the JSON have words.

    Raises:
        ValueError: the keys on one side alone.
    """
    typed = {(key.section, key.name) for key in found}
    worded = {(section, name) for section, words in WORDS.items() for name in words}
    if typed != worded:
        raise ValueError(f"contract_words.py: {sorted(typed ^ worded)} on one side alone")


def _sections(found: Sequence[Key]) -> Iterator[str]:
    for section in dict.fromkeys(key.section for key in found):
        title = "Keys of the run" if section == RUN else section
        rows = [_row(key) for key in found if key.section == section]
        yield f"## {title}\n\n| key | type | meaning |\n|---|---|---|\n" + "\n".join(rows) + "\n"


def _row(key: Key) -> str:
    words = WORDS[key.section][key.name] + (" (where it applies)" if key.is_optional else "")
    return f"| `{key.name}` | {key.type_text} | {words} |"


def main(arguments: Sequence[str] | None = None) -> int:
    """Writes the page, or compares it with --check; returns 1 where it differs."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="compare, write nothing")
    if not parser.parse_args(arguments).check:
        PAGE.write_text(page(), encoding="utf-8")
        return 0
    is_same = PAGE.is_file() and PAGE.read_text(encoding="utf-8") == page()
    if not is_same:
        print(f"{PAGE.name} differs: python -m benchmarks.site.contract_page", file=sys.stderr)
    return int(not is_same)


if __name__ == "__main__":
    sys.exit(main())
