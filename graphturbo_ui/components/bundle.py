"""ES modules -> one module, each part in its own scope: a component of Streamlit is one script.

Our choice over a bundler of the JavaScript world: the app needs no Node to run. Only what the
scripts here use is read: `import { a, b } from "./file.js"` on one line or several, and `export`
before a function, class or const, or `export default function`.
"""

from __future__ import annotations

import re
from pathlib import Path

IMPORT = re.compile(r'^import \{([^}]*)\} from "([^"]+)";\n', re.MULTILINE)
EXPORT = re.compile(r"^export (?:async )?(?:function\*?|class|const) (\w+)", re.MULTILINE)
DEFAULT = "export default function"


def bundle(entry: Path, head: str = "") -> str:
    """The entry and all that it imports as one module, which exports the entry's default.

    `head` comes first: constants that all parts see.
    """
    parts: dict[Path, str] = {}
    _add(entry.resolve(), parts)
    return "\n".join([head, *parts.values(), f"export default {_name(entry)}.main;", ""])


def _add(file: Path, parts: dict[Path, str]) -> None:
    """A file after those that it imports; the depth is that of the imports, a handful.

    Raises:
        ValueError: files import each other in a circle.
    """
    if file in parts:
        if not parts[file]:
            raise ValueError(f"{file.name} imports itself by way of others")
        return
    parts[file] = ""
    text = file.read_text(encoding="utf-8")
    for _, other in IMPORT.findall(text):
        _add((file.parent / other).resolve(), parts)
    del parts[file]
    names = EXPORT.findall(text)
    text = IMPORT.sub(lambda found: f"const {{{found[1]}}} = {_name(Path(found[2]))};\n", text)
    if DEFAULT in text:
        names.append("main")
        text = text.replace(DEFAULT, "function main")
    text = re.sub(r"^export ", "", text, flags=re.MULTILINE)
    parts[file] = (
        f"const {_name(file)} = (() => {{\n{text}\nreturn {{ {', '.join(names)} }};\n}})();"
    )


def _name(file: Path) -> str:
    """The constant that holds what a file exports."""
    return f"module_{file.stem}"
