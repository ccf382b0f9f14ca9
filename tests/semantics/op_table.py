"""docs/op-types.md: every op type of the onnx package with its entry, or what becomes of it.

python -m tests.semantics.op_table            compare with the page; exit 1 if it differs
python -m tests.semantics.op_table --write    write the page
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from itertools import groupby
from pathlib import Path
from typing import NamedTuple

import onnx

from graphturbo_core.ir.graph import Op
from graphturbo_core.semantics.access import InputAccess, OpSemantics
from graphturbo_core.semantics.entries import TABLE
from graphturbo_core.semantics.table import analyse
from tests.semantics.models import graph_of, model
from tests.semantics.op_cases.all_cases import ALL_CASES

PAGE = Path(__file__).parents[2] / "docs" / "op-types.md"
DATA = "DYNAMIC_SHAPE"
SEQUENCE = "NOT_A_TENSOR"
CONTROL = "SUB_GRAPH"
RANDOM = "NOT_DETERMINISTIC"
FOLDED = "NOTHING_TO_RUN"
BRANCH = "branch"
OPAQUE = "opaque"

WITHOUT_ENTRY: Mapping[str, str] = {
    **dict.fromkeys(("Bernoulli", "Multinomial", "RandomNormal", "RandomNormalLike",
                     "RandomUniform", "RandomUniformLike"), RANDOM),
    **dict.fromkeys(("BlackmanWindow", "Constant", "ConstantOfShape", "HammingWindow", "HannWindow",
                     "MelWeightMatrix", "Range", "Shape", "Size"), FOLDED),
    **dict.fromkeys(("ImageDecoder", "NonMaxSuppression", "NonZero", "StringNormalizer",
                     "StringSplit", "Unique"), DATA),
    **dict.fromkeys(("Loop", "Scan"), CONTROL),
    "If": BRANCH,
    **dict.fromkeys(("ConcatFromSequence", "Optional", "OptionalGetElement", "OptionalHasElement",
                     "SequenceAt", "SequenceConstruct", "SequenceEmpty", "SequenceErase",
                     "SequenceInsert", "SequenceLength", "SequenceMap", "SplitToSequence"),
                    SEQUENCE),
    **dict.fromkeys(("RegexFullMatch", "StringConcat", "TfIdfVectorizer"), OPAQUE),
}  # fmt: skip
"""What becomes of the op types of ONNX's own domain that have no entry."""

MEANINGS = {
    RANDOM: "opaque; `--verify` refuses it (NOT_DETERMINISTIC), as it draws random numbers",
    FOLDED: "a weight: import computes it from shapes and constants; opaque where its inputs are "
    "data and its shape is known all the same",
    DATA: "refused (DYNAMIC_SHAPE): how large its result is depends on the numbers",
    CONTROL: "refused (SUB_GRAPH): control flow",
    BRANCH: "the branch that a condition known at import takes; else refused (SUB_GRAPH)",
    SEQUENCE: "refused (NOT_A_TENSOR) on sequences and optionals; opaque on plain tensors",
    OPAQUE: "opaque: it reads text, or n-grams anywhere in its input",
}


class Row(NamedTuple):
    """An op type with an entry: where that is, and what its first case resolves to."""

    domain: str
    op_type: str
    op: Op
    semantics: OpSemantics


@cache
def rows() -> Mapping[tuple[str, str], Row]:
    """Of every entry in the table, its first case that is not opaque."""
    found: dict[tuple[str, str], Row] = {}
    for case in ALL_CASES:
        resolved = analyse(graph_of(model(case.text, case.opset)))
        op = resolved.graph.ops[0]
        semantics = resolved.by_op[op.name]
        key = (op.domain, op.op_type)
        if key not in found and not semantics.is_opaque:
            found[key] = Row(*key, op, semantics)
    return found


@cache
def schemas() -> Mapping[tuple[str, str], onnx.defs.OpSchema]:
    """The newest schema of every op type that the onnx package has."""
    found = {(schema.domain, schema.name): schema for schema in onnx.defs.get_all_schemas()}
    return dict(sorted(found.items()))


def page() -> str:
    """The page, in Markdown."""
    own = [key for key in schemas() if not key[0]]
    known = [key for key in own if key in TABLE]
    fates = Counter(WITHOUT_ENTRY[name] for _, name in own if ("", name) not in TABLE)
    head = HEAD.format(
        version=onnx.__version__, count=len(own), known=len(known), rest=len(own) - len(known)
    )
    parts = [head, _own_table(own), "\n## Op types without an entry\n\n"]
    parts.append(_table(
        ("what becomes of it", "op types", "which"),
        [(MEANINGS[fate], count, ", ".join(_named_so(fate))) for fate, count in fates.items()],
    ))  # fmt: skip
    parts.append(_foreign_tables())
    return "".join(parts)


def _named_so(fate: str) -> list[str]:
    return sorted(name for name, found in WITHOUT_ENTRY.items() if found == fate)


def _own_table(keys: Iterable[tuple[str, str]]) -> str:
    lines: list[Sequence[object]] = []
    for key in keys:
        since = schemas()[key].since_version
        if key in TABLE:
            lines.append((key[1], since, *_cells(rows()[key])))
        else:
            lines.append((key[1], since, "", "", "", _short(WITHOUT_ENTRY[key[1]])))
    return _table(("op type", "since", "entry", "fusion", "engine", "reads"), lines)


def _short(fate: str) -> str:
    return MEANINGS[fate].split(":")[0].split(";")[0]


def _cells(row: Row) -> tuple[str, ...]:
    entry = TABLE[row.domain, row.op_type]
    module = entry.__module__.rpartition(".")[2]
    semantics = row.semantics
    return (
        f"{module}.{entry.__name__}",
        semantics.fusion.name.lower(),
        semantics.engine.value,
        _reads(row),
    )


def _reads(row: Row) -> str:
    """Each tensor's axes in words, by place; then output axes that may not be cut."""
    index = next(i for i, reads in enumerate(row.semantics.accesses) if reads)
    by_place: dict[int, str] = {}
    for access in row.semantics.accesses[index]:
        place = row.op.inputs.index(access.tensor)
        by_place.setdefault(place, _axes(access))
    words = "; ".join(f"{place}: {text}" for place, text in sorted(by_place.items()))
    uncut = ", ".join(map(str, sorted(row.semantics.uncut_axes)))
    return words + (f" — uncut: {uncut}" if uncut else "")


def _axes(access: InputAccess) -> str:
    kinds = [axis.kind.value for axis in access.axes]
    return " ".join(
        kind if count == 1 else f"{kind} x{count}"
        for kind, count in ((kind, len(list(same))) for kind, same in groupby(kinds))
    ) or "number"  # fmt: skip


def _foreign_tables() -> str:
    known = sorted(key for key in TABLE if key not in schemas())
    lines = [(domain or "ai.onnx", name, *_cells(rows()[domain, name])) for domain, name in known]
    others: dict[str, list[str]] = {}
    for domain, name in schemas():
        if domain:
            others.setdefault(domain, []).append(name)
    rest = [(domain, len(names), ", ".join(names)) for domain, names in sorted(others.items())]
    return (
        "\n## Entries for other domains\n\n"
        + _table(("domain", "op type", "entry", "fusion", "engine", "reads"), lines)
        + "\n## Other domains of the onnx package: all opaque, or refused as above\n\n"
        + _table(("domain", "op types", "which"), rest)
    )


def _table(head: Sequence[str], lines: Iterable[Sequence[object]]) -> str:
    made = [head, ["---"] * len(head), *lines]
    return "".join(f"| {' | '.join(map(str, row))} |\n" for row in made)


HEAD = """# Op types

Written by `python -m tests.semantics.op_table --write` from onnx {version}; a test compares. Of the
{count} op types of ONNX's own domain {known} have an entry in the table of op types
(`graphturbo_core/semantics`); what becomes of the other {rest} stands below. Every entry has a case
in `tests/semantics` that changes numbers outside the boxes which the entry names and finds the
result unchanged, and that computes parts of the result from those boxes alone.

*Reads* says for each input, by its place, how its axes follow the output: the words are those of
`AxisKind` (same, window, offset, permuted, grouped, scaled, none: broadcast, whole, reduce), for
the entry's first case; *uncut* are output axes that stay in one piece. An input that is not listed
is a parameter known at import. An entry may give up where a parameter is data: the op is opaque
then, and the run says so. A refusal is UNSUPPORTED_OPS: it names all such ops of a model with the
share that they stand for; the code in brackets is why, op by op.

## Op types of ONNX's own domain

"""


def main(arguments: Sequence[str]) -> int:
    """Write the page, or compare."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true", help="write the page")
    text = page()
    if parser.parse_args(arguments).write:
        PAGE.write_text(text, encoding="utf-8", newline="\n")
    elif not PAGE.is_file() or text != PAGE.read_text(encoding="utf-8"):
        print(f"{PAGE} is not what the table says: python -m tests.semantics.op_table --write")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
