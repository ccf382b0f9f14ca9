"""PlanFile -> YAML text: the choices, the edits, and the record of every round."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import cast

from graphturbo_core import __version__
from graphturbo_core.errors import CapacityError
from graphturbo_core.export import plan_schema
from graphturbo_core.export.plan_file import PLAN_YAML, Origin, PlanFile, rounds_digest
from graphturbo_core.export.yaml_text import entry
from graphturbo_core.plain_yaml import Plain
from graphturbo_core.products.plan import Binding, Scope
from graphturbo_core.strategies.plan_files.edits import EditedCuts, Edits, with_other_names
from graphturbo_core.strategies.plan_files.record import GroupRecord, KernelRecord, Record

HEAD = """\
# A plan of GraphTurbo Explorer. Change it below `edits`, for instance
#   merge: [[conv1, conv2]]    keep_apart: [[conv1, conv2]]    pieces: {g1: 8}    axis: {g1: 2}
#   binding: {tensor: {axes: [2], grid: [8]}}    scope: {tensor: GB}    residency: {conv1: stream}
# and run it: python -m graphturbo_core run MODEL --plan FILE. docs/plan-files.md lists all keys.
# The record is the plan without these edits; edits use its names of groups.
"""


def plan_text(file: PlanFile) -> str:
    """YAML text of the file; equal plans give equal bytes.

    Raises:
        CapacityError: PLAN_TOO_LARGE, the reader would refuse it.
    """
    taken = {group.name for record in file.rounds.values() for group in record.groups}
    edits = with_other_names(file.edits, taken)
    parts = [HEAD, *_origin_lines(file.origin), *_edit_lines(edits)]
    rounds = [_round_tree(size, record) for size, record in file.rounds.items()]
    if rounds:
        parts += ["record:\n", entry("  ", "digest", rounds_digest(rounds)), "  rounds:\n"]
        parts += [line for tree in rounds for line in _round_lines(tree)]
    text = "".join(parts)
    if len(text) > PLAN_YAML.max_bytes:
        what = f"the plan has {len(text)} bytes"
        where, change = f"a plan file may have {PLAN_YAML.max_bytes}", "leave `plan` out of --emit"
        raise CapacityError("PLAN_TOO_LARGE", what, where, change)
    return text


def _origin_lines(origin: Origin) -> Iterator[str]:
    yield entry("", "schema", plan_schema.SCHEMA)
    yield entry("", "version", __version__)
    yield entry("", "model", {"name": origin.model, "digest": origin.model_digest})
    yield entry("", "profile", {"name": origin.profile, "digest": origin.profile_digest})
    yield entry("", "strategy", origin.strategy)
    yield entry("", "dtype", origin.dtype)
    yield entry("", "batch", origin.batch)
    yield entry("", "dims", dict(origin.dims))
    yield entry("", "options", dict(origin.options))
    yield entry("", "skip_passes", list(origin.skip_passes))


def _edit_lines(edits: Edits) -> Iterator[str]:
    yield "edits:\n"
    trees: dict[str, Plain] = {
        "names": {name: list(ops) for name, ops in edits.names.items()},
        "merge": [list(names) for names in edits.merge],
        "keep_apart": [list(names) for names in edits.keep_apart],
        "pieces": dict(edits.pieces),
        "axis": dict(edits.axis),
        "binding": {tensor: _cuts_tree(cuts) for tensor, cuts in edits.binding.items()},
        "scope": {tensor: _scope_tree(scope) for tensor, scope in edits.scope.items()},
        "residency": {name: residency.value for name, residency in edits.residency.items()},
    }
    for key, tree in trees.items():
        yield entry("  ", key, tree)


def _scope_tree(scope: Scope | Mapping[int, Scope]) -> Plain:
    if isinstance(scope, Scope):
        return scope.value
    return {str(piece): scope[piece].value for piece in sorted(scope)}


def _cuts_tree(cuts: EditedCuts | Binding) -> Plain:
    tree: dict[str, Plain] = {"axes": list(cuts.axes), "grid": list(cuts.grid)}
    if cuts.cores is not None:
        tree["cores"] = list(cuts.cores)
    return tree


def _round_tree(size: int, record: Record) -> dict[str, Plain]:
    seen: dict[tuple[str, str], str] = {}
    tree: dict[str, Plain] = {
        "size": size,
        "groups": [_group_tree(group) for group in record.groups],
        "kernels": [
            _kernel_tree(kernel, place, seen)
            for place, kernel in zip(_places(record), record.kernels, strict=True)
        ],
        "decisions": [
            {
                "step": d.step, "rule": d.rule, "taken": d.is_taken, "subject": list(d.subject),
                "numbers": dict(d.numbers),
            }
            for d in record.decisions
        ],
        "notes": list(record.notes),
    }  # fmt: skip
    if record.is_scheduled_across_layers is not None:
        tree["across_layers"] = record.is_scheduled_across_layers
    if record.divides_depthwise:
        tree["divides_depthwise"] = True
    if record.tile_buffers is not None:
        tree["tile_buffers"] = record.tile_buffers
    if record.cooperation is not None:
        tree["shared"] = {
            "clusters": record.cooperation.clusters, "lent": record.cooperation.has_remote_dram,
        }  # fmt: skip
    if record.stays:
        tree["stays"] = [
            {"weight": s.weight, "first": s.first, "last": s.last, "bytes": s.size_bytes}
            for s in record.stays
        ]
    return tree


def _places(record: Record) -> list[dict[str, Plain]]:
    """Step and cluster per kernel; empty where one cluster runs the round."""
    shared = record.cooperation
    if shared is None:
        return [{} for _ in record.kernels]
    places = zip(shared.step_of, shared.cluster_of, strict=True)
    return [{"step": step, "cluster": cluster} for step, cluster in places]


def _group_tree(group: GroupRecord) -> dict[str, Plain]:
    tree: dict[str, Plain] = {"name": group.name, "axis": group.axis, "pieces": group.pieces}
    if group.further:
        tree["further"] = [{"axis": axis, "parts": parts} for axis, parts in group.further]
    return {**tree, "ops": list(group.ops)}


def _kernel_tree(
    kernel: KernelRecord, place: Mapping[str, Plain], seen: dict[tuple[str, str], str]
) -> dict[str, Plain]:
    """Tree of a kernel; a mapping equal to an earlier kernel's is that kernel's name."""
    parts: dict[str, Plain] = {
        "bindings": {tensor: _cuts_tree(binding) for tensor, binding in kernel.bindings.items()},
        "scopes": {tensor: scope.value for tensor, scope in kernel.scopes.items()},
        "kept": list(kernel.kept),
        "residency": {name: residency.value for name, residency in kernel.residency.items()},
    }
    for key, tree in parts.items():
        first = seen.setdefault((key, json.dumps(tree)), kernel.name)
        if first != kernel.name and tree:
            parts[key] = first
    if kernel.branches:
        parts["branches"] = [[list(ops) for ops in branch] for branch in kernel.branches]
    return {"run": kernel.name, **place, **parts}


def _round_lines(tree: Mapping[str, Plain]) -> Iterator[str]:
    yield entry("  - ", "size", tree["size"])
    for key in ("groups", "kernels", "stays", "decisions"):
        if key not in tree:
            continue
        rows = cast(list[dict[str, Plain]], tree[key])
        yield f"    {key}:\n" if rows else f"    {key}: []\n"
        entries = ((place, *item) for row in rows for place, item in enumerate(row.items()))
        for place, name, value in entries:
            yield entry("        " if place else "      - ", name, value)
    for key in ("notes", "across_layers", "divides_depthwise", "tile_buffers", "shared"):
        if key in tree:
            yield entry("    ", key, tree[key])
