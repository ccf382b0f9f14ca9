"""docs/op-types.md is what the table of op types says, and says something of every op type."""

from __future__ import annotations

import onnx

from graphturbo_core.semantics.entries import TABLE
from tests.semantics.op_table import (
    BRANCH,
    CONTROL,
    DATA,
    FOLDED,
    OPAQUE,
    PAGE,
    RANDOM,
    SEQUENCE,
    WITHOUT_ENTRY,
    page,
    rows,
)
from tests.verify.node_table import PAGE as SUITE_PAGE

PER_ROW = "| "
IN_SUITE = {
    name: cells
    for name, *cells in (
        line.removeprefix(PER_ROW).removesuffix(" |").split(" | ")
        for line in SUITE_PAGE.read_text(encoding="utf-8").split("## Rules")[0].splitlines()
        if line.startswith(PER_ROW)
    )
}
"""Row of docs/node-suite.md by op type: models, exact, opaque, refusals."""


def names() -> set[str]:
    return {schema.name for schema in onnx.defs.get_all_schemas() if not schema.domain}


def test_the_page_is_what_the_table_says() -> None:
    assert page() == PAGE.read_text(encoding="utf-8"), "python -m tests.semantics.op_table --write"


def test_every_entry_has_a_case_that_it_resolves() -> None:
    assert set(rows()) == set(TABLE)


def test_every_op_type_of_onnx_has_an_entry_or_a_fate() -> None:
    assert {name for domain, name in TABLE if not domain} | WITHOUT_ENTRY.keys() >= names()
    assert not {name for domain, name in TABLE if not domain} & WITHOUT_ENTRY.keys()
    assert WITHOUT_ENTRY.keys() <= names()


def test_the_fates_are_what_the_node_suite_met() -> None:
    """Of op types that the suite has: a refusal is one that import or replay gave."""
    met = 0
    for name, fate in WITHOUT_ENTRY.items():
        if name not in IN_SUITE:
            continue
        models, exact, opaque, refused = IN_SUITE[name]
        met += 1
        assert not exact.strip(), name
        if fate == BRANCH:
            assert FOLDED in refused
        elif fate in (DATA, CONTROL, RANDOM, FOLDED, SEQUENCE):
            assert fate in refused, name
        else:
            assert fate == OPAQUE
            assert opaque.strip(), name
        assert int(models) > 0
    assert met > len(WITHOUT_ENTRY) // 2
