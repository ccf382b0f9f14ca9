"""PlanFile: a plan that can be stored, read, changed under `edits`, and run again."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

import yaml

from graphturbo_core.errors import PlanError
from graphturbo_core.hardware.hardware import Hardware
from graphturbo_core.hardware.profile import SPLIT_CAPACITY
from graphturbo_core.ir.graph import Graph
from graphturbo_core.limits import DEFAULT_LIMITS
from graphturbo_core.plain_yaml import YamlKind, shown
from graphturbo_core.strategies.plan_files.edits import NO_EDITS, Edits
from graphturbo_core.strategies.plan_files.pinned import PinnedPlan
from graphturbo_core.strategies.plan_files.record import Record
from graphturbo_core.strategies.registry import parse_strategy

DIGEST_LENGTH = 16
"""Hexadecimal digits of a sha256: 64 bits, enough against mistakes, not against forgery."""
PLAN_YAML = YamlKind(
    noun="plan",
    code="PLAN",
    error=PlanError,
    max_bytes=DEFAULT_LIMITS.max_plan_bytes,
    max_depth=10,
    right_file="give a plan that `run --emit plan` wrote",
    start="start with `schema: 1`",
    depth_hint="no key of a plan is nested so deeply",
    one_document="write one plan per file",
    loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader),
)


@dataclass(frozen=True)
class Origin:
    """Origin of a plan: all choices of its run, and digests of model and chip.

    `batch`: the run's batch; None for the model's own.
    """

    model: str
    model_digest: str
    profile: str
    profile_digest: str
    strategy: str
    dtype: str
    batch: int | None
    dims: Mapping[str, int]
    options: Mapping[str, str]
    skip_passes: tuple[str, ...] = ()


@dataclass(frozen=True)
class PlanFile:
    """Content of a plan file; `rounds` by their size, the largest first."""

    origin: Origin
    edits: Edits = NO_EDITS
    rounds: Mapping[int, Record] = field(default_factory=lambda: MappingProxyType({}))

    def pinned_plan(self, size: int) -> PinnedPlan:
        """The pinned plan of a round of `size` samples.

        Raises:
            PlanError: PLAN_ROUND, the file has no edits and no record of such a round.
        """
        if self.edits == NO_EDITS and size not in self.rounds:
            sizes = ", ".join(map(str, self.rounds)) or "none"
            what = f"the plan has rounds of {sizes} samples, the run one of {size}"
            raise PlanError("PLAN_ROUND", what, "record.rounds", "emit the plan again")
        return PinnedPlan(self.rounds.get(size), self.edits)


def check_origin(found: Origin, wanted: Origin) -> None:
    """Refuses a plan file of another run; `wanted`: the origin of this run's plan.

    Raises:
        PlanError: PLAN_OTHER_RUN, PLAN_OTHER_CHIP or PLAN_OTHER_MODEL.
    """
    pairs = {
        "strategy": (parse_strategy(found.strategy), parse_strategy(wanted.strategy)),
        "dtype": (found.dtype, wanted.dtype),
        "options": (dict(found.options), dict(wanted.options)),
        "skip_passes": (found.skip_passes, wanted.skip_passes),
    }
    for key, (own, other) in pairs.items():
        if own != other:
            in_file, in_run = getattr(found, key), getattr(wanted, key)
            what = f"the plan is for {key} {shown(in_file)}, the run is for {shown(in_run)}"
            change = "run with the plan's own choices, or emit a plan of this run"
            raise PlanError("PLAN_OTHER_RUN", what, f"key {key}", change)
    if found.profile_digest != wanted.profile_digest:
        what = f"the plan is for another chip: {_made(found.profile, found.profile_digest)}"
        where = f"the run is on {_made(wanted.profile, wanted.profile_digest)}"
        raise PlanError("PLAN_OTHER_CHIP", what, where, "choose that chip, or emit a plan for this")
    if found.model_digest != wanted.model_digest:
        sizes = {"batch": found.batch, **found.dims}
        other = {"batch": wanted.batch, **wanted.dims}
        what = f"the plan is for another graph: {_made(found.model, found.model_digest)}, {sizes}"
        where = f"the run has {_made(wanted.model, wanted.model_digest)}, {other}"
        change = "choose that model, batch and sizes, or emit a plan for these"
        raise PlanError("PLAN_OTHER_MODEL", what, where, change)


def _made(name: str, digest: str) -> str:
    return f"{shown(name)} ({digest})"


def graph_digest(graph: Graph) -> str:
    """Digest of the ops and shapes of a cleaned graph; the model's name does not count."""
    ops = [
        (o.name, o.op_type, o.domain, o.inputs, o.outputs, sorted(o.attributes.items()), o.opset)
        for o in graph.ops
    ]
    tensors = sorted((t.name, t.shape, t.dtype, t.kind.value) for t in graph.tensors.values())
    return _digest(repr((ops, tensors, graph.inputs, graph.outputs)))


def chip_digest(hardware: Hardware) -> str:
    """Digest of every number of a profile; names and sources do not count.

    A split capacity that the profile leaves out counts as all data bytes of a cluster's LBs. The
    rules that divide memory do not count: a plan is for a chip, not for these rules.
    """
    derived = hardware.cores * hardware.lb_data_bytes
    is_derived = hardware.split_capacity_bytes is None
    values = [
        (number.key, derived if is_derived and number.key == SPLIT_CAPACITY else number.value)
        for number in hardware.numbers
    ]
    return _digest(repr(values))


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:DIGEST_LENGTH]


def rounds_digest(rounds: object) -> str:
    """Digest of the rounds of a record as plain trees; the file's layout does not count."""
    return _digest(json.dumps(rounds, sort_keys=True))
