"""What the entries resolve every one-op model to, against a reviewed dump of all of them.

The property tests next to this one say whether the boxes are right; costs (operations for each
element, products inside an op) are our counts, which no other library confirms. The dump keeps
them: a changed count shows as a changed line.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import fields, is_dataclass
from enum import Enum
from typing import Any

from graphturbo_core.ir.boxes import full_box
from graphturbo_core.semantics.table import analyse
from graphturbo_core.semantics.work import work_of
from tests.semantics.models import graph_of, model
from tests.semantics.op_cases.all_cases import ALL_CASES

NEUTRAL = {
    "out_axis": -1, "stride": 1, "dilation": 1, "kernel": 1, "step": 1, "out_block": 1,
    "in_block": 1,
}  # fmt: skip
"""What is left out of the dump besides zero and nothing; written out, so that a changed default
of the source shows."""


def dumped(value: Any) -> str:
    """Dataclasses and named tuples by their fields that are not neutral; the rest as in Python."""
    if isinstance(value, Enum):
        return value.name.lower()
    names = [each.name for each in fields(value)] if is_dataclass(value) else _named(value)
    if names:
        pairs = ((name, getattr(value, name)) for name in names)
        shown = [f"{name}={dumped(found)}" for name, found in pairs if not _is_neutral(name, found)]
        return f"{type(value).__name__}({', '.join(shown)})"
    if isinstance(value, tuple | list):
        return f"[{', '.join(dumped(each) for each in value)}]"
    if isinstance(value, set | frozenset):
        return f"{{{', '.join(sorted(dumped(each) for each in value))}}}"
    return repr(value)


def _named(value: Any) -> tuple[str, ...]:
    """The fields of a named tuple."""
    return getattr(value, "_fields", ())


def _is_neutral(name: str, value: Any) -> bool:
    if isinstance(value, Enum):
        return False
    return value == NEUTRAL[name] if name in NEUTRAL else not value


def lines() -> Iterator[str]:
    """Each case: its semantics, then the work of each whole output."""
    for case in ALL_CASES:
        resolved = analyse(graph_of(model(case.text, case.opset)))
        for op in resolved.graph.ops:
            semantics = resolved.by_op[op.name]
            yield f"{case.name}: {op.op_type}: {dumped(semantics)}"
            for place, name in enumerate(op.outputs):
                if name:
                    box = full_box(resolved.graph.tensors[name].shape)
                    yield f"    output {place}: {dumped(work_of(semantics, box, place))}"


def test_semantics_of_every_case_are_those_of_the_dump(golden: Callable[[str, str], None]) -> None:
    golden("op-semantics", "\n".join(lines()) + "\n")
