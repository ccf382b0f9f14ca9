"""Sphinx with its settings: a folder of Markdown becomes the site; a warning is an error."""

from __future__ import annotations

import io
import shutil
import warnings
from pathlib import Path
from tempfile import TemporaryDirectory

from sphinx.application import Sphinx
from sphinx.deprecation import RemovedInNextVersionWarning, RemovedInSphinx11Warning

from benchmarks.site.places import DOCS, PRINTED, ROOT
from graphturbo_core import __version__

SITE = ROOT / "site"
STYLE = Path(__file__).with_name("site.css")
ICON = ROOT / "graphturbo_ui" / "icon.svg"
LIGHT = {
    "color-sidebar-caption-text": "#4a5462",
    "color-brand-primary": "#0b5cad",
    "color-brand-content": "#0b5cad",
    "color-brand-visited": "#0b5cad",
}
DARK = {
    "color-sidebar-caption-text": "#b6c0cd",
    "color-brand-primary": "#8cc8ff",
    "color-brand-content": "#8cc8ff",
    "color-brand-visited": "#8cc8ff",
    "color-background-primary": "#10161e",
    "color-background-secondary": "#1a232e",
}
CAPTION = '<p class="caption" role="heading"'
"""Sphinx gives the captions of the navigation no level, which screen readers need."""
QUIET = "misc.highlighting_failure,app.add_node,app.add_directive,app.add_role"
"""A block may be one line of a file; an earlier build of the process has registered all nodes."""
SETTINGS = {
    "project": "GraphTurbo Explorer",
    "release": __version__,
    "extensions": "myst_parser",
    "myst_heading_anchors": 4,
    "myst_links_external_new_tab": True,
    "suppress_warnings": QUIET,
    "html_theme": "furo",
    "html_title": "GraphTurbo Explorer",
    "html_static_path": str(STYLE),
    "html_css_files": STYLE.name,
    "html_favicon": str(ICON),
    "html_copy_source": False,
    "html_show_sourcelink": False,
    "html_show_sphinx": False,
    "html_show_copyright": False,
    "html_show_search_summary": False,  # it fetches, which a page without a server may not
    "smartquotes": False,
    "html_theme_options.light_css_variables": LIGHT,
    "html_theme_options.dark_css_variables": DARK,
}


def build(sources: Path, site: Path = SITE) -> tuple[str, ...]:
    """Build the site from nothing; returns Sphinx's warnings, of which there should be none."""
    said = io.StringIO()
    with TemporaryDirectory() as kept, warnings.catch_warnings():
        # MyST calls what a later Sphinx will not have; both are pinned.
        warnings.simplefilter("ignore", RemovedInNextVersionWarning)
        warnings.simplefilter("ignore", RemovedInSphinx11Warning)
        app = Sphinx(
            sources, None, site, kept, "html", dict(SETTINGS), status=None, warning=said,
            freshenv=True,
        )  # fmt: skip
        app.build(force_all=True)
    for page in site.rglob("*.html"):
        text = page.read_text(encoding="utf-8")
        page.write_text(text.replace(CAPTION, f'{CAPTION} aria-level="2"'), encoding="utf-8")
    for path in PRINTED:
        (site / path).parent.mkdir(exist_ok=True)
        shutil.copyfile(DOCS / path, site / path)
    return tuple(line for line in said.getvalue().splitlines() if line)
