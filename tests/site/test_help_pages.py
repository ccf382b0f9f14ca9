"""The app's /help: files of one folder with their types, nothing outside of it, plain words."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from starlette.applications import Starlette

from benchmarks.site.glossary_page import concept_pages, slug
from graphturbo_ui.glossary import CONCEPTS, GLOSSARY, PLACES, define
from graphturbo_ui.server.help_pages import COMMANDS, help_routes

OUTSIDE = "a file of the project that is no page"


@pytest.fixture
def site(tmp_path: Path) -> Path:
    """A site of three files beside a file that is not of it."""
    folder = tmp_path / "site"
    (folder / "concepts").mkdir(parents=True)
    (folder / "index.html").write_text("<h1>Home</h1>", encoding="utf-8")
    (folder / "concepts" / "chip.html").write_text("<h1>Chip</h1>", encoding="utf-8")
    (folder / "style.css").write_text("p { color: red }", encoding="utf-8")
    (tmp_path / "secret.txt").write_text(OUTSIDE, encoding="utf-8")
    (folder / "link.txt").symlink_to(tmp_path / "secret.txt")
    return folder


def asked(site: Path, path: str, method: str = "GET") -> tuple[int, dict[str, str], str]:
    """Status, headers and text of the answer to a request, as the path is written."""
    sent: list[dict[str, object]] = []

    async def send(message: dict[str, object]) -> None:
        sent.append(message)

    async def receive() -> dict[str, object]:
        """Nothing more comes: the visitor waits for the answer."""
        await asyncio.Event().wait()
        raise AssertionError

    scope = {
        "type": "http", "method": method, "path": path, "raw_path": path.encode(), "headers": [],
        "query_string": b"", "root_path": "", "scheme": "http", "server": ("127.0.0.1", 8501),
    }  # fmt: skip
    asyncio.run(Starlette(routes=help_routes(site))(scope, receive, send))  # type: ignore[arg-type]
    start = next(each for each in sent if each["type"] == "http.response.start")
    headers = {key.decode(): value.decode() for key, value in start["headers"]}  # type: ignore[attr-defined]
    body = b"".join(each.get("body", b"") for each in sent if each is not start)  # type: ignore[misc]
    return int(str(start["status"])), headers, body.decode("utf-8")


@pytest.mark.parametrize(
    ("path", "kind", "text"),
    [
        ("/help/", "text/html; charset=utf-8", "Home"),
        ("/help/index.html", "text/html; charset=utf-8", "Home"),
        ("/help/concepts/chip.html", "text/html; charset=utf-8", "Chip"),
        ("/help/style.css", "text/css; charset=utf-8", "color"),
    ],
)
def test_a_file_has_its_type(site: Path, path: str, kind: str, text: str) -> None:
    status, headers, body = asked(site, path)
    assert (status, headers["content-type"]) == (200, kind)
    assert text in body
    assert headers["x-content-type-options"] == "nosniff"
    assert "default-src 'self'" in headers["content-security-policy"]


@pytest.mark.parametrize(
    "path",
    [
        "/help/../secret.txt",
        "/help/concepts/../../secret.txt",
        "/help/..%2fsecret.txt",
        "/help//etc/hostname",
        "/help/..\\secret.txt",
        "/help/link.txt",
        "/help/gone.html",
        "/help/concepts",
        "/help/concepts/",
        "/help/\0",
        f"/help/{'a' * 5000}",
    ],
)
def test_nothing_outside_of_the_folder_is_served(site: Path, path: str) -> None:
    status, headers, body = asked(site, path)
    assert (status, headers["x-content-type-options"]) == (404, "nosniff")
    assert OUTSIDE not in body
    assert "has no such page" in body


def test_only_reading_is_allowed_and_the_slash_is_added(site: Path) -> None:
    assert asked(site, "/help/", "POST")[0] == 405
    status, headers, _ = asked(site, "/help")
    assert (status, headers["location"]) == (307, "help/")


def test_a_site_that_is_not_built_names_the_command(tmp_path: Path) -> None:
    for path in ("/help/", "/help/concepts/chip.html"):
        status, headers, body = asked(tmp_path / "site", path)
        assert (status, headers["content-type"]) == (503, "text/html; charset=utf-8")
        assert all(command in body for command in COMMANDS)
        assert "not built" in body


def test_every_term_of_the_app_leads_to_its_section() -> None:
    assert PLACES.keys() == GLOSSARY.keys()
    sections = concept_pages()
    for page, terms in CONCEPTS.items():
        assert set(terms) <= set(sections[page]), page
        for term in terms:
            assert PLACES[term] == f"/help/concepts/{page}.html#{slug(term)}"
    assert define("halo") == f"[halo]({PLACES['halo']}): {GLOSSARY['halo']}"
