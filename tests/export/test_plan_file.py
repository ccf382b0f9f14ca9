"""Plan files as text: written values come back, and what is no plan file is refused by name."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from typing import get_args

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from graphturbo_core.errors import CapacityError, PlanError
from graphturbo_core.export import plan_write
from graphturbo_core.export.plan_file import (
    PLAN_YAML,
    Origin,
    PlanFile,
    chip_digest,
    graph_digest,
    rounds_digest,
)
from graphturbo_core.export.plan_read import read_plan
from graphturbo_core.export.plan_schema import ResidencyWord, ScopeWord
from graphturbo_core.export.plan_write import plan_text
from graphturbo_core.export.yaml_text import WIDTH, entry, flow, scalar
from graphturbo_core.plain_yaml import plain_yaml
from graphturbo_core.products.plan import Residency, Scope
from graphturbo_core.strategies.plan_files.edits import EditedCuts, Edits
from graphturbo_core.strategies.plan_files.record import recorded
from tests.models import graph_of
from tests.strategies.plus.plans import heavy, plus
from tests.strategies.samples import hardware, sample_plan

DIGEST = "0123456789abcdef"
ORIGIN = Origin("m", DIGEST, "c", DIGEST, "tvm@2", "fp16", None, {"n": 3}, {"a.b": "c"}, ("p",))
NAMES = st.text(st.characters(exclude_categories=("Cs",)), min_size=1, max_size=40)
EDITS = Edits(
    names={"mine": ("a", "1")},
    merge=(("a", "b"), ("c", "mine")),
    keep_apart=(("a", "true"),),
    pieces={"x: y": 8},
    axis={"- z": 2},
    binding={"#t": EditedCuts((0, 2), (2, 4)), "null": EditedCuts((1,), (2,), (3, 0))},
    scope={"t\n": Scope.GB, "u": {2: Scope.DRAM, 10: Scope.LB}},
    residency={"\U0001f600": Residency.STREAM},
)


def example(**changes: object) -> PlanFile:
    record = recorded(sample_plan("teaching-resnet", 16, "graphturbo", "generic-4x4"))
    return PlanFile(ORIGIN, EDITS, {16: record})


def refused(text: str | bytes) -> PlanError:
    data = text if isinstance(text, bytes) else text.encode()
    with pytest.raises(PlanError) as caught:
        read_plan(data, "my.yaml")
    return caught.value


@given(st.recursive(
    NAMES | st.integers(-(2**62), 2**62) | st.booleans() | st.none()
    | st.floats(allow_nan=False, allow_infinity=False),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(NAMES, inner, max_size=4),
    max_leaves=12,
))  # fmt: skip
def test_what_is_written_is_read_back(value: object) -> None:
    text = entry("", "key", value)  # type: ignore[arg-type]
    assert plain_yaml(text.encode(), "x", PLAN_YAML) == {"key": value}


@given(st.lists(NAMES, max_size=30), st.dictionaries(NAMES, NAMES, max_size=30))
def test_any_reader_of_yaml_reads_the_same(items: list[str], pairs: dict[str, str]) -> None:
    text = entry("", "items", items) + entry("", "pairs", pairs)  # type: ignore[arg-type]
    assert yaml.safe_load(text) == {"items": items, "pairs": pairs}
    assert text.isascii()


def test_keys_that_are_longer_than_yaml_has_them_are_written_with_a_question_mark() -> None:
    long = "n" * 5000
    text = entry("", "pairs", {long: 1, "short": 2})
    assert "? n" in text
    assert plain_yaml(text.encode(), "x", PLAN_YAML) == {"pairs": {long: 1, "short": 2}}


def test_lines_are_no_longer_than_their_items_need() -> None:
    text = entry("  ", "key", [f"op{number}" for number in range(200)])
    assert max(len(line) for line in text.splitlines()) <= WIDTH


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("conv1", "conv1"), ("g1/2", "g1/2"), ("1", '"1"'), ("no", '"no"'), ("a: b", '"a: b"'),
        ('a"\\', '"a\\"\\\\"'), ("\u2028", '"\\u2028"'), ("", '""'), (1e16, "1.0e+16"),
        (0.5, "0.5"),
    ],
)  # fmt: skip
def test_values_are_quoted_where_they_could_be_read_otherwise(value: object, text: str) -> None:
    assert scalar(value) == text  # type: ignore[arg-type]


def test_a_plan_file_comes_back_whole_and_is_written_the_same_again() -> None:
    text = plan_text(example())
    found = read_plan(text.encode(), "x")
    assert (found.origin, found.edits) == (ORIGIN, EDITS)
    assert found == example()
    assert plan_text(found) == text


def shared_example() -> PlanFile:
    return PlanFile(ORIGIN, EDITS, {1: recorded(plus(heavy(), hardware()))})


def test_clusters_that_share_a_round_come_back() -> None:
    text = plan_text(shared_example())
    assert "    shared: {clusters: 4, lent: true}\n" in text
    assert "      - run: g2/1\n        step: 1\n        cluster: 0\n" in text
    assert read_plan(text.encode(), "x") == shared_example()


@pytest.mark.parametrize(
    ("key", "said"),
    [
        ("cluster", "g1/1 has no cluster or step, and clusters share the round"),
        ("step", "g1/1 has no cluster or step, and clusters share the round"),
        ("shared", "g1/1 has a cluster or step, and no clusters share the round"),
    ],
)
def test_every_kernel_has_a_cluster_where_they_share_a_round(key: str, said: str) -> None:
    tree = yaml.safe_load(plan_text(shared_example()))
    (round_,) = tree["record"]["rounds"]
    del (round_ if key == "shared" else round_["kernels"][0])[key]
    tree["record"]["digest"] = rounds_digest(tree["record"]["rounds"])
    error = refused(yaml.safe_dump(tree, sort_keys=False))
    assert (error.code, error.what) == ("PLAN_RECORD", said)


def without(key: str) -> Callable[[str], str]:
    return lambda text: "".join(l for l in text.splitlines(True) if not l.startswith(f"{key}:"))  # noqa: E741


def put(old: str, new: str) -> Callable[[str], str]:
    return lambda text: text.replace(old, new, 1)


WRONG = {
    "missing": (without("strategy"), "PLAN_INVALID: key strategy is missing"),
    "unknown": (put("merge:", "merges:"), "key edits.merges is not known, in my.yaml, remove or "
                "rename it (did you mean merge?)"),
    "schema": (put("schema: 1", "schema: 2"), "schema is 2, in my.yaml, write 1"),
    "alias": (put("merge: [[", "merge: &x [["), "PLAN_NOT_YAML: line"),
    "tag": (put("merge: [[", "merge: !!set [["), "uses a tag (!), in my.yaml"),
    "pieces": (put(": 8}", ": 0}"), "edits.pieces.x: y is 0, in my.yaml, write greater than"),
    "a word": (put(": GB}", ": SRAM}"), "is SRAM, in my.yaml, write 'LB', 'GB' or 'DRAM'"),
    "a word of a piece": (put(": DRAM", ": SRAM"), "edits.scope.u.2 is SRAM, in my.yaml"),
    "no such piece": (put('"2": DRAM', '"0": DRAM'), "edits.scope.u.0 is 0, in my.yaml"),
    "no piece": (lambda t: re.sub("u: .*? LB}", "u: {}", t), "edits.scope.u is {}, in my.yaml, "),
    "one of a set": (put("keep_apart: [[a, ", "keep_apart: [["), "edits.keep_apart.0 is ['true']"),
    "a number": (put('"1"', "1"), "edits.names.mine.1 is 1, in my.yaml"),
    "twice": (put("schema: 1", "schema: 1\nschema: 1"), "key schema appears twice (line"),
    "deep": (put("merge: [[", f"merge: {'[' * 12}"), "nests deeper than 10 levels"),
    "two": (lambda text: f"{text}---\n{text}", "starts a second document"),
    "no mapping": (lambda _: "- a", "the plan is not a mapping of keys"),
    "no yaml": (put("schema: 1", "schema: ["), "the plan is not YAML at line"),
    "by hand": (put("pieces: 2", "pieces: 4"), "PLAN_RECORD_CHANGED: the record was changed by"),
}  # fmt: skip


@pytest.mark.parametrize("case", WRONG)
def test_what_is_no_plan_file_is_refused_by_name(case: str) -> None:
    change, said = WRONG[case]
    text = plan_text(example())
    assert said in refused(change(text[text.index("schema:") :])).line()


def test_size_bytes_and_emptiness_are_refused() -> None:
    assert refused(b"#" * (PLAN_YAML.max_bytes + 1)).code == "PLAN_TOO_BIG"
    assert "byte 0 is not UTF-8 text" in refused(b"\xff").what
    assert refused(plan_text(PlanFile(ORIGIN))).code == "PLAN_EMPTY"


def test_words_of_a_plan_file_are_all_that_a_plan_says() -> None:
    assert set(get_args(ScopeWord)) == {scope.value for scope in Scope}
    assert set(get_args(ResidencyWord)) == {residency.value for residency in Residency}


def test_edits_may_stand_alone_and_may_be_left_empty() -> None:
    text = plan_text(PlanFile(ORIGIN, Edits(pieces={"a": 2})))
    assert "record" not in text.split("edits:")[1]
    found = read_plan(text.replace("merge: []", "merge:").encode(), "x")
    assert found.edits == Edits(pieces={"a": 2})
    assert found.pinned_plan(5).is_edited
    whole = plan_text(example())
    start, end = whole.index("edits:"), whole.index("record:")
    bare = read_plan((whole[:start] + "edits:\n" + whole[end:]).encode(), "x")
    assert not bare.pinned_plan(16).is_edited
    with pytest.raises(PlanError, match="the plan has rounds of 16 samples, the run one of 5"):
        bare.pinned_plan(5)


def test_a_kernel_that_refers_to_none_is_refused() -> None:
    text = plan_text(example())
    tree = yaml.safe_load(text)
    tree["record"]["rounds"][0]["kernels"][0]["scopes"] = "g9/1"
    digest = rounds_digest(tree["record"]["rounds"])
    old = yaml.safe_load(text)["record"]["digest"]
    kernel = text.index("scopes:")
    forged = text[:kernel] + "scopes: g9/1\n" + text[text.index("        kept:", kernel) :]
    error = refused(forged.replace(str(old), str(digest)))
    assert "g9/1 is no kernel before g1/1" in error.what


def test_a_file_that_could_not_be_read_again_is_not_written(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(plan_write, "PLAN_YAML", replace(PLAN_YAML, max_bytes=100))
    with pytest.raises(CapacityError, match="a plan file may have 100"):
        plan_text(example())


def test_digests_tell_what_a_plan_depends_on() -> None:
    text = "g (float[1,4] x) => (float[1,4] y) { y = Relu (x) }"
    same = graph_digest(graph_of(text))
    assert graph_digest(graph_of(text)) == same
    others = [text.replace("1,4", "1,5"), text.replace("Relu", "Neg"), text.replace("x", "z")]
    assert len({same, *(graph_digest(graph_of(other)) for other in others)}) == 4
    assert chip_digest(hardware("stcp920")) != chip_digest(hardware("generic-4x4"))
    assert flow({"a": [1, None]}) == "{a: [1, null]}"
