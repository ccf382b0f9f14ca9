"""Scripts without a page: each file of tests runs in Chromium, joined with what it imports."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import Browser

from graphturbo_ui.components.bundle import bundle
from tests.ui.app_server import context_of

FOLDER = Path(__file__).parent
RUN = """async (script) => {
  const url = URL.createObjectURL(new Blob([script], { type: "text/javascript" }));
  return (await import(url)).default();
}"""


@pytest.mark.browser
@pytest.mark.parametrize("name", [file.stem for file in sorted(FOLDER.glob("*_test.js"))])
def test_scripts(browser: Browser, name: str) -> None:
    page = context_of(browser, 1100, 900).new_page()
    found = page.evaluate(RUN, bundle(FOLDER / f"{name}.js"))
    page.close()
    assert len(found) > 3
    assert {test: fault for test, fault in found if fault} == {}


def write(folder: Path, **files: str) -> Path:
    """Files `a.js`, …; the first one's path."""
    for name, text in files.items():
        (folder / f"{name}.js").write_text(text, encoding="utf-8")
    return folder / f"{next(iter(files))}.js"


def test_imports_come_first_and_once(tmp_path: Path) -> None:
    entry = write(
        tmp_path,
        a='import { b } from "./b.js";\nimport {\n  c,\n} from "./c.js";\n'
        "export default function () { return b + c; }\n",
        b='import { c } from "./c.js";\nexport const b = c + 1;\n',
        c="export const c = 1;\n",
    )
    text = bundle(entry, head="const HEAD = 1;")
    places = [text.index(f"const module_{name} =") for name in "cba"]
    assert places == sorted(places)
    assert text.count("const module_c =") == 1
    assert text.startswith("const HEAD = 1;")
    assert "import" not in text
    assert text.endswith("export default module_a.main;\n")


@pytest.mark.browser
def test_each_part_has_a_scope_of_its_own(browser: Browser, tmp_path: Path) -> None:
    entry = write(
        tmp_path,
        a='import { one, later, Kind, all } from "./b.js";\nconst own = "a";\n'
        "export default function () {\n"
        "  return later().then((found) => [own, one(), found, new Kind().own, ...all()]);\n}\n",
        b='const own = "b";\nexport function one() { return own; }\n'
        "export async function later() { return own; }\n"
        "export class Kind { constructor() { this.own = own; } }\n"
        "export function* all() { yield HEAD; }\n",
    )
    page = context_of(browser, 1100, 900).new_page()
    assert page.evaluate(RUN, bundle(entry, 'const HEAD = "head";')) == [
        "a", "b", "b", "b", "head",
    ]  # fmt: skip
    page.close()


def test_a_circle_is_refused(tmp_path: Path) -> None:
    entry = write(
        tmp_path,
        a='import { b } from "./b.js";\nexport const a = b;\n',
        b='import { a } from "./a.js";\nexport const b = a;\n',
    )
    with pytest.raises(ValueError, match=r"a\.js imports itself by way of others"):
        bundle(entry)
