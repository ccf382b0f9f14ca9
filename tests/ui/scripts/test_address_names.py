"""Names that a page has in the address are known to the script that keeps the address."""

from __future__ import annotations

import re
from pathlib import Path

import graphturbo_ui.top_bar
from graphturbo_ui.session import learn, paper, state
from graphturbo_ui.store import DIGEST_LENGTH

SCRIPT = (Path(graphturbo_ui.top_bar.__file__).parent / "page.js").read_text("utf-8")


def test_the_script_knows_every_name_that_streamlit_has_at_once() -> None:
    """One that it does not know comes back into the address after a page has left it out."""
    (listed,) = re.findall(r"const SEEN = \[([^\]]+)\];", SCRIPT)
    assert set(re.findall(r'"([a-z]+)"', listed)) == {
        "views", state.PRESENT,
        paper.ROW, paper.RESULT, paper.KIND,
        learn.STEP, learn.KNOB, learn.NETWORK,
    }  # fmt: skip


def test_the_script_and_the_store_have_digests_of_one_length() -> None:
    (digits,) = re.findall(r"OF_UPLOAD = / \\\(\[0-9a-f\]\{(\d+)\}\\\)\$/", SCRIPT)
    assert int(digits) == DIGEST_LENGTH
