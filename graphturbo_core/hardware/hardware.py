"""Hardware: one validated chip, in bytes, bytes per second and cycles."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum


class EngineKind(Enum):
    """Kind of engine that executes an instruction: three per core, DMA per cluster.

    A matrix engine may belong to a cluster (`Hardware.shared_engine`).
    """

    MATRIX = "matrix"
    VECTOR = "vector"
    MOVE = "move"
    DMA = "dma"

    __hash__ = object.__hash__
    """Enum's own hash runs Python code: twice per instruction."""


CLUSTER_CORE = -1
"""Core number of engines that belong to the cluster: a shared engine, or DMA."""


class MatrixModel(Enum):
    """Formula of the matrix engine's cycles for M x N x K (design, section 5)."""

    PASSES = "passes"
    OUTPUT_STATIONARY = "output-stationary"
    WEIGHT_STATIONARY = "weight-stationary"
    INPUT_STATIONARY = "input-stationary"


@dataclass(frozen=True, slots=True)
class Sourced:
    """A profile number with its source, and whether it is an assumption.

    `key` is its path in the profile file, unit included, e.g. `cluster.gb_bandwidth_bytes_per_s`.
    """

    key: str
    value: float | int | str
    source: str
    is_assumption: bool


@dataclass(frozen=True)
class Hardware:
    """A chip: clusters x cores, engines, LB, GB, DRAM. Bandwidths are bytes per second.

    `dram_bandwidth` and `dram_bytes` are one cluster's share; `lb_bandwidth` one core's port;
    `gb_bandwidth` one cluster's port (0 without a GB); `link_bandwidth` a core's port to the other
    cores, each way.
    `matrix_depth`: steps of K per cycle of the matrix array at the base rate.
    `matrix_rate` and `vector_rate`: multiple of the base rate per number format.
    `is_pooled`: data and weight parts of an LB are one pool (then both parts have the pool's size).
    `split_capacity_bytes`: live bytes that Algorithm 1 allows per piece; None: the data parts of a
    cluster's LBs.
    `channel_padding`: the channel axis is padded to a multiple of this many elements; 1 is none.
    `shared_engine`: `matrix` if one matrix engine without an LB serves all cores of a cluster. It
    reads operands from GB and writes results there; `staging_bytes` is then its accumulator.
    `weight_placement`: `sharded` if weights are divided over the LBs of a cluster.
    `remote_dram_latency_cycles`: latency of a read of another cluster's DRAM, through that
    cluster's share; None if not possible.
    `numbers`: every number of the profile with its source, in the order of the file's sections.
    """

    name: str
    title: str
    clusters: int
    cores: int
    clock_hz: int
    matrix_rows: int
    matrix_columns: int
    matrix_model: MatrixModel
    matrix_rate: Mapping[str, int] = field(hash=False)
    vector_lanes: int
    vector_rate: Mapping[str, int] = field(hash=False)
    transcendental_ops: int
    dma_engines: int
    lb_data_bytes: int
    lb_weight_bytes: int
    staging_bytes: int
    is_pooled: bool
    gb_bytes: int
    dram_bytes: int
    lb_bandwidth: int
    gb_bandwidth: int
    dram_bandwidth: int
    link_bandwidth: int
    dram_latency_cycles: int
    gb_latency_cycles: int
    link_latency_cycles: int
    launch_cycles: int
    barrier_cycles: int
    split_capacity_bytes: int | None
    channel_padding: int
    numbers: tuple[Sourced, ...]
    notes: tuple[str, ...] = ()
    matrix_depth: int = 1
    shared_engine: str = "none"
    weight_placement: str = "replicated"
    remote_dram_latency_cycles: int | None = None

    @property
    def lb_bytes(self) -> int:
        """Bytes of one core's LB, data and weight parts together, staging left out."""
        return self.lb_data_bytes if self.is_pooled else self.lb_data_bytes + self.lb_weight_bytes

    @property
    def has_gb(self) -> bool:
        """Whether the cores of a cluster share a GB."""
        return self.gb_bytes > 0

    @property
    def has_shared_matrix(self) -> bool:
        """Whether the cores of a cluster share one matrix engine, with operands in GB."""
        return self.shared_engine == EngineKind.MATRIX.value

    @property
    def shards_weights(self) -> bool:
        """Whether weights may be divided over the LBs of a cluster."""
        return self.weight_placement == "sharded"

    @property
    def can_cooperate(self) -> bool:
        """Whether its clusters can share one sample: they can read each other's DRAM."""
        has_way = self.remote_dram_latency_cycles is not None
        return self.clusters > 1 and has_way and self.has_gb and not self.has_shared_matrix

    @property
    def matrix_engines(self) -> int:
        """Matrix engines of a cluster."""
        return 1 if self.has_shared_matrix else self.cores

    def transfer_cycles(self, size_bytes: int, bandwidth: int) -> int:
        """Whole cycles that `size_bytes` occupy a channel of `bandwidth` bytes/s, rounded up."""
        return -(-size_bytes * self.clock_hz // bandwidth)

    def peak_macs_per_cycle(self, number_format: str) -> int:
        """Multiply-accumulates per cycle of one core's matrix engine."""
        return self.matrix_rows * self.matrix_columns * self.k_steps_per_cycle(number_format)

    def k_steps_per_cycle(self, number_format: str) -> int:
        """Steps of K per cycle of the matrix array."""
        return self.matrix_depth * self.matrix_rate[number_format]

    def peak_vector_per_cycle(self, number_format: str) -> int:
        """Element-operations per cycle of one core's vector engine."""
        return self.vector_lanes * self.vector_rate[number_format]
