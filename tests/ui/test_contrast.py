"""The contrast checker finds what is faint, wherever it stands, and nothing else."""

from __future__ import annotations

from contextlib import closing

import pytest
from playwright.sync_api import Browser

from tests.ui.app_server import context_of
from tests.ui.contrast import faint_texts

pytestmark = pytest.mark.browser

SIZE = (1280, 720)


def faint(browser: Browser, body: str, scheme: str = "light") -> list[tuple[str, float]]:
    with closing(context_of(browser, *SIZE, scheme).new_page()) as page:
        page.set_content(f"<style>:root {{ color-scheme: light dark }}</style>{body}")
        return [(entry.text, entry.ratio) for entry in faint_texts(page)]


# #767676 on white is the grey that just passes: (1 + .05) / (.1812 + .05) = 4.54; #777 has 4.48.
@pytest.mark.parametrize(
    ("style", "ratio"),
    [
        ("color: #000", None),
        ("color: #767676", None),
        ("color: #777", 4.48),
        ("color: #777; font-size: 24px", None),
        ("color: #777; font-size: 19px; font-weight: 700", None),
        ("color: #777; font-size: 19px", 4.48),
        ("color: #999; font-size: 24px", 2.85),
        ("color: #fff; background: #767676", None),
        ("color: #fff; background: #777", 4.48),
        # Half-transparent black on white is half of 1, linear .2140: 1.05 / (.2140 + .05).
        ("color: rgba(0, 0, 0, 0.5)", 3.98),
        ("opacity: 0.5", 3.98),
        # White on black, faded by half on white: white on that same grey.
        ("color: #fff; background: #000; opacity: 0.5", 3.98),
        ("color: #777; display: none", None),
        ("color: #777; visibility: hidden", None),
        ("color: #777; position: absolute; width: 1px; overflow: hidden", None),
    ],
)
def test_a_text_is_judged_as_it_reaches_the_eye(browser: Browser, style: str, ratio: float | None):
    found = faint(browser, f'<p style="{style}">x</p>')
    assert found == ([] if ratio is None else [("x", pytest.approx(ratio, abs=0.03))])


@pytest.mark.parametrize(
    "body",
    [
        '<div style="background: #fff"><p style="color: #777">x</p></div>',
        '<div style="color: #777"><template shadowrootmode="open"><p>x</p></template></div>',
        '<svg><text y="20" style="fill: #777; color: #000">x</text></svg>',
        '<input value="x" style="color: #777; background: #fff">',
        '<style>input::placeholder { color: #777 }</style><input placeholder="x">',
    ],
)
def test_no_place_hides_a_faint_text(browser: Browser, body: str):
    with closing(context_of(browser, *SIZE).new_page()) as page:
        page.goto("data:text/html," + body.replace("#", "%23"))
        assert [entry.text for entry in faint_texts(page)] == ["x"]


# White on #767676 just passes, on #777 not; a shape that is drawn later, or beside, does not count.
@pytest.mark.parametrize(
    ("shapes", "ratio"),
    [
        ('<rect width="50" height="50" fill="#767676"/>{}', None),
        ('<rect width="50" height="50" fill="#777"/>{}', 4.48),
        ('<rect width="50" height="50" fill="#000"/><circle r="40" fill="#777"/>{}', 4.48),
        ('<rect width="50" height="50" fill="#000" opacity="0.5"/>{}', 3.98),
        ('<g transform="translate(60)"><rect width="50" height="50"/></g>{}', 1.0),
        ('{}<rect width="50" height="50"/>', 1.0),
    ],
)
def test_a_text_of_a_drawing_is_judged_on_the_shapes_below_it(
    browser: Browser, shapes: str, ratio: float | None
):
    text = '<text x="10" y="20" fill="#fff">x</text>'
    found = faint(browser, f"<svg>{shapes.format(text)}</svg>")
    assert found == ([] if ratio is None else [("x", pytest.approx(ratio, abs=0.03))])


def test_what_is_switched_off_may_be_faint(browser: Browser):
    assert faint(browser, '<button disabled style="color: #aaa">x</button>') == []


def test_what_a_run_may_still_replace_is_judged_when_it_ended(browser: Browser):
    """Streamlit fades a page to a third while its script runs."""
    body = """<main data-stale="true" style="opacity: 0.33"><p>x</p><p style="color: #777">y</p>
      </main><script>setTimeout(() => {
        document.body.firstElementChild.dataset.stale = "false";
        document.body.firstElementChild.style.opacity = 1;
      }, 500)</script>"""
    assert faint(browser, body) == [("y", pytest.approx(4.48, abs=0.03))]


def test_the_page_behind_is_that_of_the_colour_scheme(browser: Browser):
    assert faint(browser, '<p style="color: #767676">x</p>', "light") == []
    assert [text for text, _ in faint(browser, '<p style="color: #555">x</p>', "dark")] == ["x"]
