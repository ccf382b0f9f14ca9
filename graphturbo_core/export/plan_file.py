"""PlanFile: a plan that people can keep, read, change under `edits`, and run again."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

import yaml

from graphturbo_core.errors import PlanError
from graphturbo_core.hardware.hardware import Hardware
from graphturbo_core.ir.graph import Graph
from graphturbo_core.limits import DEFAULT_LIMITS
from graphturbo_core.plain_yaml import YamlKind
from graphturbo_core.strategies.edits import NO_EDITS, Edits
from graphturbo_core.strategies.held import HeldPlan
from graphturbo_core.strategies.record import Record

DIGEST_LENGTH = 16
"""Hexadecimal digits of a sha256: 64 bits, against mistakes, not against forgers."""
PLAN_YAML = YamlKind(
    noun="plan",
    code="PLAN",
    error=PlanError,
    max_bytes=DEFAULT_LIMITS.max_plan_bytes,
    max_depth=10,
    right_file="give a plan that `run --emit plan` wrote",
    start="start with `schema: 1`",
    depth_hint="no key of a plan lies so deep",
    one_document="keep one plan a file",
    loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader),
)


@dataclass(frozen=True)
class Origin:
    """What a plan was made for: all choices of its run, and digests of model and chip.

    `batch`: as the run asked for it; None is the model's own.
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
    """A plan file as it was read or is to be written; `rounds` by their size, largest first."""

    origin: Origin
    edits: Edits = NO_EDITS
    rounds: Mapping[int, Record] = field(default_factory=lambda: MappingProxyType({}))

    def held(self, size: int) -> HeldPlan:
        """What the file says of a round of so many samples.

        Raises:
            PlanError: PLAN_ROUND, it has no edits and no record of such a round.
        """
        if self.edits == NO_EDITS and size not in self.rounds:
            sizes = ", ".join(map(str, self.rounds)) or "none"
            what = f"the plan has rounds of {sizes} samples, the run one of {size}"
            raise PlanError("PLAN_ROUND", what, "record.rounds", "emit the plan again")
        largest = next(iter(self.rounds.values()), None)
        return HeldPlan(self.rounds.get(size, largest), self.edits)


def graph_digest(graph: Graph) -> str:
    """Digest of the ops and shapes of a cleaned graph, whatever it is called."""
    ops = [
        (o.name, o.op_type, o.domain, o.inputs, o.outputs, sorted(o.attributes.items()), o.opset)
        for o in graph.ops
    ]
    tensors = sorted((t.name, t.shape, t.dtype, t.kind.value) for t in graph.tensors.values())
    return _digest(repr((ops, tensors, graph.inputs, graph.outputs)))


def chip_digest(hardware: Hardware) -> str:
    """Digest of every number of a profile, whatever it is called and wherever they are from."""
    return _digest(repr([(number.key, number.value) for number in hardware.numbers]))


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:DIGEST_LENGTH]


def rounds_digest(rounds: object) -> str:
    """Digest of the rounds of a record, as plain trees: however the file is laid out."""
    return _digest(json.dumps(rounds, sort_keys=True))
