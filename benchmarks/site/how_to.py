"""CONTRIBUTING.md's examples as pages: each step names the file that it writes or changes.

CONTRIBUTING.md keeps file names in comments, which a browser hides. On these pages they are text.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from benchmarks.site.places import HOW_TO, ROOT

CONTRIBUTING = "CONTRIBUTING.md"
ARCHITECTURE = "ARCHITECTURE.md"
NEW_FILE = re.compile(r"<!-- new file: (?P<path>\S+) -->\n")
EDIT = re.compile(
    r'<!-- in: (?P<path>\S+), (?P<how>before|instead of): "(?P<line>[^\n]+)" -->\n'
    r"```(?P<kind>\w+)\n(?P<body>.*?)```\n",
    re.DOTALL,
)
TITLES = {
    "a-strategy": "Add a strategy",
    "an-op": "Add an op",
    "a-chip": "Add a chip",
    "a-page": "Add a page of the app",
}
BEFORE = """Work in a copy of the project's folder where `make run` or `make test` has made `.venv`.
Begin with `source .venv/bin/activate`. A test follows this page to the letter: every file, line and
command. A comment `# shows TEXT` names what the command prints.
"""


def how_to_pages() -> Mapping[str, str]:
    """Page -> its Markdown, with links as in ARCHITECTURE.md and CONTRIBUTING.md."""
    text = (ROOT / CONTRIBUTING).read_text(encoding="utf-8")
    design = (ROOT / ARCHITECTURE).read_text(encoding="utf-8")
    return {page: _page(text, design, anchor) for anchor, page in HOW_TO.items()}


def rules_page() -> str:
    """CONTRIBUTING.md without its examples, with links to their pages."""
    text = (ROOT / CONTRIBUTING).read_text(encoding="utf-8")
    rules = text.split("\n## ", 1)[0].rpartition("\n\n")[0]
    links = "\n".join(f"- [{TITLES[anchor]}]({CONTRIBUTING}#{anchor})" for anchor in HOW_TO)
    return f"{rules}\n\n## Worked examples\n\n{links}\n"


def visible(section: str) -> str:
    """A section whose comments have become text."""
    return EDIT.sub(_shown_edit, NEW_FILE.sub(r"New file `\g<path>`:\n\n", section))


def _shown_edit(found: re.Match[str]) -> str:
    how = {"before": "insert before the line", "instead of": "replace the line"}[found["how"]]
    kind, end = found["kind"], "\n```\n"
    line = f"```{kind}\n{found['line']}{end}"
    return (
        f"In `{found['path']}`, {how}\n\n{line}\n{'this' if how[0] == 'i' else 'by this'}:\n\n"
        f"```{kind}\n{found['body']}```\n"
    )


def _page(text: str, design: str, anchor: str) -> str:
    heading = anchor.replace("-", " ").capitalize()
    section = text.split(f"\n## {heading}\n", 1)[1].split("\n## ", 1)[0].strip()
    files = design.split(f"\n**{heading}**\n", 1)[1]
    files = re.split(r"\n(?:\*\*|## )", files, maxsplit=1)[0].strip()
    files = files.replace("glossary below", "the glossary of `ARCHITECTURE.md`")
    return (
        f"# {TITLES[anchor]}\n\n{BEFORE}\n## Example\n\n{visible(section)}\n\n"
        f"## Files to touch, in order\n\nPaths without a folder of the project begin in "
        f"`graphturbo_core/`. The [rules for changes]({CONTRIBUTING}) apply.\n\n{files}\n"
    )
