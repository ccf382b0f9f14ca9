"""What a comparison keeps of a run: a part of the contract, under the contract's keys."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Self

from pydantic import BaseModel, ConfigDict, FailFast, Field, model_validator

from graphturbo_core.limits import DEFAULT_LIMITS

MAX_LAYERS = DEFAULT_LIMITS.max_ops
MAX_PARTS = 12
"""Parts of the model that time is divided among."""
MAX_KEYS = 100
"""Entries of a mapping, such as the options of a strategy."""

Label = Annotated[str, Field(max_length=1000)]
Count = Annotated[int, Field(ge=0, lt=2**63)]
LEAST, MOST = 1e-12, 1e9
"""Of seconds and shares; pages divide by a latency."""
Seconds = Annotated[float, Field(ge=0, le=MOST, allow_inf_nan=False)]
Latency = Annotated[float, Field(ge=LEAST, le=MOST, allow_inf_nan=False)]
Rate = Annotated[float, Field(ge=LEAST, le=1e18, allow_inf_nan=False)]
"""Samples per second: many samples may take the least latency."""
Share = Annotated[float, Field(ge=0, le=MOST, allow_inf_nan=False)]
SecondsBy = Annotated[dict[Label, Seconds], Field(max_length=MAX_KEYS)]
BytesBy = Annotated[dict[Label, Count], Field(max_length=MAX_KEYS)]
SharesBy = Annotated[dict[Label, Share], Field(max_length=MAX_KEYS)]
Options = Annotated[dict[Label, Label], Field(max_length=MAX_KEYS)]
Layers = Annotated[tuple[Count, ...], FailFast(), Field(max_length=MAX_LAYERS)]


class Exact(BaseModel):
    """Frozen values with these keys and no others; types are not converted."""

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True)


class BoundStepSeconds(Exact):
    """The contract's `bound_steps`."""

    resource: Label
    steps: SecondsBy


class FlightShares(Exact):
    """The contract's `overlap.layers_in_flight`."""

    share: Share
    mean: Share
    histogram: SharesBy


class OverlapShares(Exact):
    """The contract's `overlap`."""

    layers_in_flight: FlightShares
    memory_under_compute: Share
    vector_under_matrix: Share
    within_core: Share


class MemoryUse(Exact):
    """Capacity and peak of one memory."""

    capacity_bytes: Count
    peak_bytes: Count


class GroupLayers(Exact):
    """A group, and the layers that run in it, counted from 0 in the model's order."""

    name: Label
    pieces: Annotated[int, Field(ge=1, lt=2**31)]
    along: Label
    layers: Layers


class PartSeconds(Exact):
    """Seconds of the latency in which layers of one part of the model are in flight."""

    title: Label
    seconds: Seconds


class ContractFigures(BaseModel):
    """Single numbers and small tables of the contract, by its keys."""

    model_config = ConfigDict(strict=True, frozen=True)

    model: Label
    profile: Label
    strategy: Label
    options: Options
    dtype: Label
    batch: Count
    cluster_batch: Count
    rounds: Count
    version: Label
    program_sha256: Label
    latency_s: Latency
    throughput_per_s: Rate
    cycles: Count
    lower_bound_s: Seconds
    lower_bound_terms: SecondsBy
    plan_bound_s: Seconds
    program_critical_path_s: Seconds
    gap: Seconds
    bound_steps: BoundStepSeconds
    critical_path: SecondsBy
    compulsory_dram_bytes: Count
    kernels: Count
    instructions: Count
    sub_graphs_fine: Count
    dram_read_bytes: Count
    dram_write_bytes: Count
    gb_read_bytes: Count
    gb_write_bytes: Count
    core_to_core_bytes: Count
    dram_ledger: BytesBy
    macs: Count
    halo_macs: Count
    utilization: SharesBy
    mac_utilization: Share
    cross_layer_overlap: Share
    overlap: OverlapShares
    lb: MemoryUse
    gb: MemoryUse

    @model_validator(mode="after")
    def _check_bound(self) -> Self:
        if self.lower_bound_s > self.latency_s * (1 + 1e-9):
            raise ValueError("write a lower_bound_s of at most latency_s")
        return self

    def contract(self) -> Mapping[str, Any]:
        """The figures as the contract has them; keys that a comparison does not keep are absent."""
        return self.model_dump(mode="json")


class RunFigures(ContractFigures):
    """Figures of a run. `parts`: of the model in its order, empty where it was saved without them.

    `other_s`: seconds of the latency without a layer in flight.
    """

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True)

    groups: Annotated[tuple[GroupLayers, ...], FailFast(), Field(max_length=MAX_LAYERS)]
    parts: Annotated[tuple[PartSeconds, ...], FailFast(), Field(max_length=MAX_PARTS)] = ()
    other_s: Seconds = 0.0

    @property
    def dram_bytes(self) -> int:
        """Bytes over DRAM, read and written."""
        return self.dram_read_bytes + self.dram_write_bytes

    @property
    def launches(self) -> int:
        """Kernels that one cluster launches for the whole batch."""
        return self.kernels * self.rounds

    @property
    def pieces(self) -> int:
        """Pieces of all groups."""
        return sum(group.pieces for group in self.groups)

    @property
    def bound_share(self) -> float:
        """The lower bound over the latency; 1 cannot be exceeded."""
        return self.lower_bound_s / self.latency_s
