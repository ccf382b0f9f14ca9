"""Reports, and the JSON of saved ones -> the figures that a comparison keeps."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, FailFast, Field

from graphturbo_core.comparison.figures import (
    MAX_LAYERS,
    ContractFigures,
    Count,
    GroupLayers,
    Label,
    PartSeconds,
    RunFigures,
)
from graphturbo_core.limits import DEFAULT_LIMITS
from graphturbo_core.products.split_text import axes_text
from graphturbo_core.report.overview.hues import HUES, stages_of
from graphturbo_core.report.overview.shares import cycles_by_hue
from graphturbo_core.report.report import Report
from graphturbo_core.report.rows.partition.stages import ModelStage, fewer

MAX_AXES = DEFAULT_LIMITS.max_rank
Parts = Annotated[int, Field(ge=1, lt=2**31)]


class _Loose(BaseModel):
    model_config = ConfigDict(strict=True, frozen=True)


class SavedGroup(_Loose):
    """A group as `run --json` prints it; its ops are not read."""

    name: Label
    pieces: Parts
    split_axis: Annotated[int, Field(ge=-1, lt=MAX_AXES)]
    further_splits: Annotated[
        tuple[tuple[Count, Parts], ...], FailFast(), Field(max_length=MAX_AXES)
    ] = ()


class SavedLayer(_Loose):
    """A layer as `run --json` prints it, of which its group is read."""

    group: Label


class SavedReport(ContractFigures):
    """One run of `run --json` or `compare --json`; keys that a comparison lacks are not read."""

    contract_schema: Annotated[Literal[1], Field(alias="schema")]
    groups: Annotated[tuple[SavedGroup, ...], FailFast(), Field(max_length=MAX_LAYERS)]
    layers: Annotated[tuple[SavedLayer, ...], FailFast(), Field(max_length=MAX_LAYERS)]

    def figures(self) -> RunFigures:
        """Its figures: without time by part, which a contract does not have."""
        own = {name: getattr(self, name) for name in ContractFigures.model_fields}
        return RunFigures(**own, groups=_groups(self.groups, self.layers))


def figures_of(report: Report) -> RunFigures:
    """The figures of a run, with time by part where it has the tables of pictures."""
    figures = SavedReport.model_validate_json(json.dumps(report.contract)).figures()
    parts, other_s = _parts(report)
    return figures.model_copy(update={"parts": parts, "other_s": other_s})


def _groups(groups: Sequence[SavedGroup], layers: Sequence[SavedLayer]) -> tuple[GroupLayers, ...]:
    """Groups with their layers."""
    members: dict[str, list[int]] = {}
    for index, layer in enumerate(layers):
        members.setdefault(layer.group, []).append(index)
    return tuple(
        GroupLayers(
            name=group.name,
            pieces=group.pieces,
            along=axes_text(group.split_axis, group.pieces, group.further_splits),
            layers=tuple(members.get(group.name, ())),
        )
        for group in groups
    )


def parts_of_model(report: Report) -> list[ModelStage]:
    """At most five parts of the model, the same for all runs of it.

    The stages, the smallest joined. A layer counts by its share of the model's MACs plus its share
    of the layers (our choice).
    """
    macs = [row["model_macs"] for row in report.tables["layers"]]
    cost = [each / (sum(macs) or 1) + 1 / len(macs) for each in macs]
    return fewer(stages_of(report), HUES, cost)


def _parts(report: Report) -> tuple[tuple[PartSeconds, ...], float]:
    """Seconds per part of the model, and without a layer in flight.

    The shares are those of the drawn round; other rounds of the run count as divided equally.
    """
    tables: Mapping[str, Any] = report.tables
    if not tables.get("stages"):
        return (), 0.0
    parts = parts_of_model(report)
    of_layer = [0] * len(report.tables["layers"])
    for hue, part in enumerate(parts):
        of_layer[part.first : part.last + 1] = [hue] * part.layers
    cycles = cycles_by_hue(report, of_layer, len(parts))
    scale = report.contract["latency_s"] / (sum(cycles) or 1)
    titled = zip(parts, cycles, strict=False)
    found = tuple(PartSeconds(title=part.title, seconds=own * scale) for part, own in titled)
    return found, cycles[-1] * scale
