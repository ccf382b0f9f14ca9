"""The documentation site: built without a warning, no dead link, everything from its own folder."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from benchmarks.site import __main__ as command
from benchmarks.site import glossary_page
from benchmarks.site.builder import SITE, build
from benchmarks.site.dead_links import faults
from benchmarks.site.navigation import groups
from benchmarks.site.places import DOCS, PRINTED, ROOT, outside_code, page_of, relinked, sources
from graphturbo_ui.components.sources import FOLDER, LEARN
from graphturbo_ui.server import help_pages


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site as `make docs` builds it."""
    folder = tmp_path_factory.mktemp("site") / "site"
    assert command.main(["--to", str(folder)]) == 0
    return folder


@pytest.mark.slow
def test_every_source_is_a_page_that_the_navigation_lists(site: Path) -> None:
    home = (site / "index.html").read_text(encoding="utf-8")
    for source in sources():
        page = Path(page_of(source)).with_suffix(".html").as_posix()
        assert (site / page).is_file()
        assert page == "index.html" or f'href="{page}"' in home, page


@pytest.mark.slow
def test_the_app_links_to_the_pages_of_the_lecture(site: Path) -> None:
    text = (FOLDER / LEARN.name / f"{LEARN.name}.html").read_text(encoding="utf-8")
    linked = re.findall(rf'href="{help_pages.PATH}/([^"]+)"', text)
    assert linked == [*PRINTED, "lecture/plan.html"]
    for path in linked:
        assert (site / path).is_file()
    for path in PRINTED:
        assert (site / path).read_bytes() == (DOCS / path).read_bytes()


@pytest.mark.slow
def test_nothing_leads_nowhere_or_is_loaded_from_a_network(site: Path) -> None:
    assert faults(site) == ()
    assert len(list(site.rglob("*.html"))) > len(sources())


PAGE = """<link rel="stylesheet" href="a.css"><h2 id="here">x</h2>
<a href="#here">1</a><a href="other.html#there">2</a><a href="https://example.org/">3</a>"""


def test_each_fault_is_found(tmp_path: Path) -> None:
    page, other, style = (tmp_path / name for name in ("page.html", "other.html", "a.css"))
    page.write_text(PAGE, encoding="utf-8")
    other.write_text('<p id="there">y</p>', encoding="utf-8")
    style.write_text("p { color: red }", encoding="utf-8")
    assert faults(tmp_path) == ()
    for broken, fault in (
        ('<a href="gone.html">x</a>', "page.html: gone.html leads nowhere"),
        ('<a href="#gone">x</a>', "page.html: #gone has no such section"),
        ('<a href="other.html#gone">x</a>', "page.html: other.html#gone has no such section"),
        ('<a href="/other.html">x</a>', "page.html: /other.html needs a server"),
        ('<script src="https://cdn.org/x.js"></script>', "page.html loads https://cdn.org/x.js"),
        ('<img src="//cdn.org/x.png">', "page.html loads //cdn.org/x.png"),
    ):
        page.write_text(PAGE + broken, encoding="utf-8")
        assert faults(tmp_path) == (fault,)
    page.write_text(PAGE, encoding="utf-8")
    style.write_text("@import url('https://fonts.org/f.css');", encoding="utf-8")
    assert faults(tmp_path) == ("a.css loads https://fonts.org/f.css",)


def test_a_link_leads_to_the_page_of_its_file() -> None:
    text = "[a](../ARCHITECTURE.md#glossary) [b](../CONTRIBUTING.md#an-op) [c](https://x.org)"
    shown, files = relinked(text, "docs/limits.md", "limits.md")
    assert shown == "[a](architecture.md#glossary) [b](how-to/op.md) [c](https://x.org)"
    assert files == frozenset()
    assert relinked("[x.md](limits.md)", "docs/app.md", "app.md")[0] == "[](limits.md)"
    shown, files = relinked("[a](../hardware_profiles/goya.yaml)", "docs/limits.md", "limits.md")
    assert (shown, files) == ("[a](files/goya.yaml)", {"hardware_profiles/goya.yaml"})
    with pytest.raises(ValueError, match=r"docs/limits\.md: the link gone\.md leads to no file"):
        relinked("[a](gone.md)", "docs/limits.md", "limits.md")
    with pytest.raises(ValueError, match="leads to no file"):
        relinked("[a](../../etc/hostname)", "docs/limits.md", "limits.md")


def test_what_stands_in_a_block_of_code_is_no_link() -> None:
    text = "[a](b)\n```yaml\n[a](b)\n```\n[a](b)\n"
    assert outside_code(text, str.upper) == "[A](B)\n```yaml\n[a](b)\n```\n[A](B)\n"


def test_the_index_lists_every_page_once() -> None:
    tables = groups((DOCS / "README.md").read_text(encoding="utf-8"))
    listed = [page for pages in tables.values() for page in pages]
    assert len(listed) == len(set(listed))
    files = {path.relative_to(DOCS).as_posix() for path in DOCS.rglob("*.md")} - {"README.md"}
    assert files == {page for page in listed if not page.startswith("..")}


def test_every_term_has_one_section_with_its_definition() -> None:
    assert glossary_page.main(["--check"]) == 0
    known = glossary_page.definitions()
    assert len(known) > 60
    pages = {"a": ("x", "y"), "b": ("y",)}
    lacks = "no page of docs/concepts has a section 'z'"
    assert sorted(glossary_page.faults({"x": "", "y": "", "z": ""}, pages)) == [
        lacks, "two sections: y",
    ]  # fmt: skip


def test_a_definition_is_written_below_its_heading() -> None:
    known = {"LB": "New words."}
    for before in ("### LB\n\nMore.\n", "### LB\n\n> Old words.\n\nMore.\n"):
        assert glossary_page.defined(before, known) == "### LB\n\n> New words.\n\nMore.\n"
    with pytest.raises(ValueError, match="XB is no term"):
        glossary_page.defined("### XB\n\nMore.\n", known)


def test_a_process_may_build_more_than_once(tmp_path: Path) -> None:
    page = tmp_path / "sources" / "index.md"
    page.parent.mkdir()
    page.write_text("# A\n", encoding="utf-8")
    assert [build(page.parent, tmp_path / name) for name in ("first", "second")] == [(), ()]


def test_a_warning_ends_the_build_and_the_site_of_before_remains(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def broken(folder: Path) -> None:
        folder.mkdir()
        (folder / "index.md").write_text("# A\n\n[x](gone.md)\n", encoding="utf-8")

    monkeypatch.setattr(command, "write_sources", broken)
    before = tmp_path / "site"
    before.mkdir()
    for name in ("index.html", command.BUILT):
        (before / name).write_text("before", encoding="utf-8")
    assert command.main(["--to", str(before)]) == 1
    assert "gone.md" in capsys.readouterr().err
    assert (before / "index.html").read_text(encoding="utf-8") == "before"


def test_a_folder_with_other_files_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    own = tmp_path / "mine.txt"
    own.write_text("mine", encoding="utf-8")
    with pytest.raises(SystemExit):
        command.main(["--to", str(tmp_path)])
    assert "has other files than a site" in capsys.readouterr().err
    assert own.read_text(encoding="utf-8") == "mine"


def test_the_app_serves_the_folder_that_the_command_builds() -> None:
    assert help_pages.SITE == SITE == ROOT / "site"
