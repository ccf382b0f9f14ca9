"""Links of the built pages that lead nowhere, and what a page would load from a network."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

LOADED = {
    ("img", "src"), ("source", "srcset"), ("script", "src"), ("link", "href"), ("iframe", "src"),
}  # fmt: skip
"""Attributes that a browser fetches by itself; a link to another site is fetched by a click."""
NOT_LOADED = {"canonical", "index", "search", "next", "prev", "author", "copyright"}
"""Kinds of `link` that lead to pages."""
STYLE_URL = re.compile(r"""(?:@import\s+|url\(\s*)["']?(?P<url>(?:https?:)?//[^"')\s]+)""")


class PageLinks(HTMLParser):
    """Anchors of a page, and its links with whether a browser loads them by itself."""

    def __init__(self) -> None:
        """An empty page."""
        super().__init__()
        self.anchors: set[str] = set()
        self.links: list[tuple[str, bool]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Take the tag's id, name and links."""
        own = dict(attrs)
        self.anchors |= {own[name] or "" for name in ("id", "name") if name in own}
        for name in ("href", "src", "srcset"):
            if target := own.get(name):
                is_kind = own.get("rel") not in NOT_LOADED
                self.links.append((target, (tag, name) in LOADED and is_kind))


def faults(site: Path) -> tuple[str, ...]:
    """One line per dead link, per link that needs a server, and per file of a network."""
    pages = {path: _parsed(path) for path in sorted(site.rglob("*.html"))}
    found = [line for page in pages for line in _page_faults(site, page, pages)]
    for path in sorted(site.rglob("*.css")):
        for url in STYLE_URL.finditer(path.read_text(encoding="utf-8")):
            found.append(f"{path.relative_to(site)} loads {url['url']}")
    return tuple(found)


def _parsed(path: Path) -> PageLinks:
    found = PageLinks()
    found.feed(path.read_text(encoding="utf-8"))
    return found


def _page_faults(site: Path, page: Path, pages: Mapping[Path, PageLinks]) -> Iterator[str]:
    name = page.relative_to(site).as_posix()
    for target, is_loaded in pages[page].links:
        parts = urlsplit(target)
        if parts.scheme == "data":
            continue
        if parts.scheme or parts.netloc:
            if is_loaded:
                yield f"{name} loads {target}"
            continue
        if parts.path.startswith("/"):
            yield f"{name}: {target} needs a server"
            continue
        file = (page.parent / unquote(parts.path)).resolve() if parts.path else page
        if not file.is_file():
            yield f"{name}: {target} leads nowhere"
        elif (
            file in pages
            and parts.fragment
            and unquote(parts.fragment) not in _anchors(pages[file])
        ):
            yield f"{name}: {target} has no such section"


def _anchors(page: PageLinks) -> set[str]:
    return page.anchors | {"", "top"}
