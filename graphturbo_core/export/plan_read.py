"""Bytes -> PlanFile: reads an untrusted plan file and checks every key."""

from __future__ import annotations

from collections.abc import Mapping

from pydantic import ValidationError

from graphturbo_core.errors import PlanError
from graphturbo_core.export import plan_schema
from graphturbo_core.export.plan_file import PLAN_YAML, Origin, PlanFile, rounds_digest
from graphturbo_core.plain_yaml import Plain, plain_yaml, shown
from graphturbo_core.products.cooperation import Cooperation
from graphturbo_core.products.plan import Binding, Decision, Residency, Scope
from graphturbo_core.strategies.plan_files.edits import NO_EDITS, EditedCuts, Edits, with_groups
from graphturbo_core.strategies.plan_files.record import (
    GroupRecord,
    KernelRecord,
    Record,
    StayRecord,
)


def read_plan(data: bytes, file_name: str) -> PlanFile:
    """The PlanFile in `data`.

    Raises:
        PlanError: it is no plan file, or its record was changed; names key, value and range.
    """
    file = read_head(data, file_name)
    if not file.rounds and file.edits == NO_EDITS:
        what, change = "the plan has neither edits nor a record", "give a plan that was written"
        raise PlanError("PLAN_EMPTY", what, f"in {shown(file_name)}", change)
    return file


def read_head(data: bytes, file_name: str) -> PlanFile:
    """The PlanFile in `data`, which may have neither edits nor a record: only the origin.

    Raises:
        PlanError: as `read_plan`, except PLAN_EMPTY.
    """
    tree = plain_yaml(data, file_name, PLAN_YAML)
    given = tree.get("edits")
    given = {} if given is None else given
    if isinstance(given, dict):
        given = {key: value for key, value in given.items() if value is not None}
    try:
        section = plan_schema.PlanSection.model_validate({**tree, "edits": given})
    except ValidationError as error:
        raise plan_schema.schema_refusal(error, file_name) from error
    _check_record(tree.get("record"), file_name)
    record = section.record
    rounds = {each.size: _record(each, file_name) for each in record.rounds} if record else {}
    edits = _edits(section.edits)
    if record:
        edits = with_groups(edits, rounds[record.rounds[0].size].ops_of_groups)
    return PlanFile(_origin(section), edits, rounds)


def _check_record(record: Plain, file_name: str) -> None:
    """Refuses a record that was changed by hand: changes belong below `edits`."""
    if isinstance(record, dict) and record.get("digest") != rounds_digest(record.get("rounds")):
        what, change = "the record was changed by hand", "undo that, and write it below `edits`"
        raise PlanError("PLAN_RECORD_CHANGED", what, f"in {shown(file_name)}", change)


def _origin(section: plan_schema.PlanSection) -> Origin:
    return Origin(
        model=section.model.name,
        model_digest=section.model.digest,
        profile=section.profile.name,
        profile_digest=section.profile.digest,
        strategy=section.strategy,
        dtype=section.dtype,
        batch=section.batch,
        dims=section.dims,
        options=section.options,
        skip_passes=tuple(section.skip_passes),
    )


def _edits(section: plan_schema.EditsSection) -> Edits:
    return Edits(
        names={name: tuple(ops) for name, ops in section.names.items()},
        merge=tuple(map(tuple, section.merge)),
        keep_apart=tuple(map(tuple, section.keep_apart)),
        pieces=section.pieces,
        axis=section.axis,
        binding={tensor: _cuts(cuts) for tensor, cuts in section.binding.items()},
        scope={
            tensor: Scope(word)
            if isinstance(word, str)
            else {int(piece): Scope(each) for piece, each in word.items()}
            for tensor, word in section.scope.items()
        },
        residency={name: Residency(word) for name, word in section.residency.items()},
    )


def _cuts(section: plan_schema.CutsSection) -> EditedCuts:
    cores = None if section.cores is None else tuple(section.cores)
    return EditedCuts(tuple(section.axes), tuple(section.grid), cores)


def _record(section: plan_schema.RoundSection, file_name: str) -> Record:
    groups = (
        GroupRecord(
            g.name, tuple(g.ops), g.axis, g.pieces, tuple((s.axis, s.parts) for s in g.further)
        )
        for g in section.groups
    )
    kernels: dict[str, KernelRecord] = {}
    for kernel in section.kernels:
        if kernel.run in kernels:
            raise _bad_kernel(f"{shown(kernel.run)} runs twice", file_name)
        kernels[kernel.run] = _kernel(kernel, kernels, file_name)
    decisions = (
        Decision(d.step, d.rule, tuple(d.subject), d.taken, d.numbers) for d in section.decisions
    )
    return Record(
        tuple(groups),
        tuple(kernels.values()),
        tuple(decisions),
        tuple(section.notes),
        section.across_layers,
        tuple(StayRecord(s.weight, s.first, s.last, s.bytes) for s in section.stays),
        _cooperation(section, file_name),
        section.divides_depthwise,
        section.tile_buffers,
    )


def _cooperation(section: plan_schema.RoundSection, file_name: str) -> Cooperation | None:
    """Cluster and step of every kernel, where clusters share the round; all kernels or none."""
    shared, clusters, steps = section.shared, [], []
    for kernel in section.kernels:
        if shared is not None and kernel.cluster is not None and kernel.step is not None:
            clusters.append(kernel.cluster)
            steps.append(kernel.step)
        elif shared is not None or kernel.cluster is not None or kernel.step is not None:
            is_due = "has no cluster or step" if shared is not None else "has a cluster or step"
            whose = "clusters share" if shared is not None else "no clusters share"
            raise _bad_kernel(f"{shown(kernel.run)} {is_due}, and {whose} the round", file_name)
    if shared is None:
        return None
    return Cooperation(shared.clusters, tuple(clusters), tuple(steps), shared.lent)


def _kernel(
    section: plan_schema.PlanKernel, before: Mapping[str, KernelRecord], file_name: str
) -> KernelRecord:
    bindings, scopes, kept = section.bindings, section.scopes, section.kept
    residency = section.residency

    def like(name: str) -> KernelRecord:
        if name not in before:
            raise _bad_kernel(f"{shown(name)} is no kernel before {shown(section.run)}", file_name)
        return before[name]

    return KernelRecord(
        name=section.run,
        bindings=like(bindings).bindings if isinstance(bindings, str) else _bindings(bindings),
        scopes=like(scopes).scopes
        if isinstance(scopes, str)
        else {tensor: Scope(word) for tensor, word in scopes.items()},
        kept=like(kept).kept if isinstance(kept, str) else tuple(kept),
        residency=like(residency).residency
        if isinstance(residency, str)
        else {name: Residency(word) for name, word in residency.items()},
        branches=tuple(tuple(map(tuple, branch)) for branch in section.branches),
    )


def _bindings(sections: Mapping[str, plan_schema.CutsSection]) -> dict[str, Binding]:
    return {
        tensor: Binding(tuple(cuts.axes), tuple(cuts.grid), tuple(cuts.cores or ()))
        for tensor, cuts in sections.items()
    }


def _bad_kernel(what: str, file_name: str) -> PlanError:
    return PlanError("PLAN_RECORD", what, f"in {shown(file_name)}", "emit the plan again")
