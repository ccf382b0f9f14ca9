"""Hardware -> everything that a picture of one chip shows, as plain values."""

from __future__ import annotations

from dataclasses import dataclass

from graphturbo_core.hardware.hardware import Hardware
from graphturbo_core.report.chips.chip_parts import ChipPart, chip_parts
from graphturbo_core.report.chips.derived import DerivedFigure, derived_figures


@dataclass(frozen=True, slots=True)
class ChipShape:
    """Sizes that a picture draws to scale; bytes and bytes per second of one part each.

    `macs`, `vector_ops`: operations per cycle of one matrix and one vector engine in the picture's
    number format. `matrix_columns`: columns times steps of K per cycle.
    """

    clusters: int
    cores: int
    lb_data_bytes: int
    lb_weight_bytes: int
    is_pooled: bool
    staging_bytes: int
    gb_bytes: int
    dma_engines: int
    lb_bandwidth: int
    gb_bandwidth: int
    dram_bandwidth: int
    link_bandwidth: int
    matrix_rows: int
    matrix_columns: int
    macs: int
    vector_ops: int
    has_shared_matrix: bool

    @property
    def lb_bytes(self) -> int:
        """Bytes of one core's LB, both parts together."""
        return self.lb_data_bytes + (0 if self.is_pooled else self.lb_weight_bytes)


@dataclass(frozen=True)
class ChipView:
    """A chip by name: its sizes, its numbers by part, and what follows from them."""

    name: str
    title: str
    number_format: str
    shape: ChipShape
    parts: tuple[ChipPart, ...]
    figures: tuple[DerivedFigure, ...]
    notes: tuple[str, ...]


def chip_view(hardware: Hardware, number_format: str) -> ChipView:
    """What a picture shows of a chip that computes in `number_format`."""
    return ChipView(
        name=hardware.name,
        title=hardware.title,
        number_format=number_format,
        shape=_shape(hardware, number_format),
        parts=chip_parts(hardware),
        figures=derived_figures(hardware, number_format),
        notes=hardware.notes,
    )


def _shape(hardware: Hardware, number_format: str) -> ChipShape:
    return ChipShape(
        clusters=hardware.clusters,
        cores=hardware.cores,
        lb_data_bytes=hardware.lb_data_bytes,
        lb_weight_bytes=hardware.lb_weight_bytes,
        is_pooled=hardware.is_pooled,
        staging_bytes=hardware.staging_bytes,
        gb_bytes=hardware.gb_bytes,
        dma_engines=hardware.dma_engines,
        lb_bandwidth=hardware.lb_bandwidth,
        gb_bandwidth=hardware.gb_bandwidth,
        dram_bandwidth=hardware.dram_bandwidth,
        link_bandwidth=hardware.link_bandwidth,
        matrix_rows=hardware.matrix_rows,
        matrix_columns=hardware.matrix_columns * hardware.k_steps_per_cycle(number_format),
        macs=hardware.peak_macs_per_cycle(number_format),
        vector_ops=hardware.peak_vector_per_cycle(number_format),
        has_shared_matrix=hardware.has_shared_matrix,
    )
