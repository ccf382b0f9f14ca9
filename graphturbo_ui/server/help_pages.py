"""The documentation under /help: files of the folder that `python -m benchmarks.site` built."""

from __future__ import annotations

from html import escape
from http import HTTPStatus
from pathlib import Path

from starlette.exceptions import HTTPException
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.routing import BaseRoute, Mount, Route
from starlette.staticfiles import StaticFiles
from starlette.types import Scope

SITE = Path(__file__).parents[2] / "site"
PATH = "/help"
FIRST = "index.html"
COMMANDS = (
    "make docs",
    "python -m pip install -r requirements-docs.txt",
    "python -m benchmarks.site",
)
"""With make, and without."""
HEADERS = {
    # The site fetches nothing from elsewhere; its theme has scripts and styles within its pages.
    "Content-Security-Policy": "default-src 'self' data:; script-src 'self' 'unsafe-inline'; "
    "style-src 'self' 'unsafe-inline'; frame-ancestors 'self'",
    "X-Content-Type-Options": "nosniff",
}
PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>Help</title>
<meta name="viewport" content="width=device-width">
<style>
:root { color-scheme: light dark; font: 16px/1.5 system-ui, sans-serif; }
body { margin: 4rem auto; max-width: 40rem; padding: 0 1rem; }
code { font-size: 15px; }
</style></head><body>
%s
</body></html>"""
NOT_BUILT = """<h1>The documentation is not built</h1>
<p>This command builds it, in the project's folder:</p><pre><code>%s</code></pre>
<p>Without make:</p><pre><code>%s</code></pre>
<p>Reload this page afterwards. The sources are in the folder <code>docs</code>.</p>"""
GONE = f"""<h1>The documentation has no such page</h1>
<p>It may be of an older version: <code>{COMMANDS[0]}</code> builds it.</p>
<p><a href="{PATH}/">All pages</a></p>"""


class HelpPages(StaticFiles):
    """Files of the site; what they lack is named in plain words, with the command."""

    def __init__(self, site: Path) -> None:
        """`site` need not exist; it may be built while the app runs."""
        super().__init__(directory=site, html=True, check_dir=False)
        self.site = site

    async def check_config(self) -> None:
        """A folder that is not there is no error of the server."""

    async def get_response(self, path: str, scope: Scope) -> Response:
        """A file of the site; never one outside of it."""
        if not (self.site / FIRST).is_file():
            lines = escape(COMMANDS[0]), "\n".join(map(escape, COMMANDS[1:]))
            return HTMLResponse(PAGE % (NOT_BUILT % lines), 503, HEADERS)
        try:
            found = await super().get_response(path, scope)
        except HTTPException as error:
            if error.status_code != HTTPStatus.NOT_FOUND:
                raise
            return HTMLResponse(PAGE % GONE, error.status_code, HEADERS)
        found.headers.update(HEADERS)
        return found


def help_routes(site: Path = SITE) -> list[BaseRoute]:
    """Routes of the site, for `st.App`; its links are relative, so it needs the slash."""

    async def with_slash(request: object) -> Response:
        return RedirectResponse(f"{PATH.strip('/')}/")

    return [Route(PATH, with_slash), Mount(PATH, HelpPages(site))]
