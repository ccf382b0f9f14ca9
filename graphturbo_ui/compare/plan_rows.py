"""A plan file, and the top bar's choices -> the run of that plan on its own model and chip."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import PurePath

from pydantic import ValidationError

from graphturbo_core.errors import GraphTurboError, PlanError
from graphturbo_core.export.plan_file import Origin, chip_digest
from graphturbo_core.export.plan_read import read_plan
from graphturbo_core.frontend.catalogue import load_sample, sample_names
from graphturbo_core.hardware.profile import read_profile
from graphturbo_core.run_request import RunRequest
from graphturbo_core.strategies.options import strategy_options
from graphturbo_core.strategies.registry import parse_strategy
from graphturbo_ui.runs import Source
from graphturbo_ui.session import chips, query, state
from graphturbo_ui.session.choices import Choices
from graphturbo_ui.session.compared import WantedRun
from graphturbo_ui.text import safe_text

SHOWN = 60
"""Characters of a name in a refusal."""


def wanted_by_plan(data: bytes, file_name: str, choices: Choices) -> WantedRun:
    """The run of a plan file. Its worker compares the plan's graph with the model's.

    Raises:
        GraphTurboError: it is no plan file, or its model or chip is not here.
    """
    origin = read_plan(data, file_name).origin
    parse_strategy(origin.strategy)
    model_name, model, sha256 = _model(origin, file_name, choices)
    profile_name, profile = _chip(origin, file_name, choices)
    request = RunRequest(
        model_name=model_name,
        strategy=origin.strategy,
        profile=profile_name,
        batch=origin.batch,
        dims=dict(origin.dims),
        dtype=origin.dtype,
        options=_own_options(origin),
        skip_passes=origin.skip_passes,
        plan=data.decode("utf-8-sig"),
    )
    found = WantedRun(request, Source.of(model, profile, sha256), file_name=file_name)
    try:
        _ = found.choices
    except ValidationError as error:
        fault = error.errors(include_url=False, include_context=False, include_input=False)[0]
        what = f"a comparison has no room for its {'.'.join(map(str, fault['loc']))}"
        raise PlanError("PLAN_INVALID", what, f"in {file_name}", fault["msg"]) from error
    return found


def _own_options(origin: Origin) -> dict[str, str]:
    """Options that are not at their default: a plan names all, rows name what differs."""
    known = strategy_options()
    return {
        name: value
        for name, value in origin.options.items()
        if name not in known or known[name].default != value
    }


def _model(origin: Origin, file_name: str, choices: Choices) -> tuple[str, bytes, str]:
    """Name, bytes and digest of the plan's model: the bar's before samples and uploads.

    A file may have another name than when the plan was written, so the bar's upload stands in.

    Raises:
        PlanError: PLAN_MODEL_GONE.
    """
    labels = [choices.model, *sample_names(), *state.model_names()]
    same = (label for label in labels if _model_name(label) == origin.model)
    own = choices.model if query.is_upload(choices.model) else ""
    label = next(same, own)
    if not label:
        name = safe_text(origin.model, max_length=SHOWN)
        what = f"the plan is for the model {name}, which is neither a sample nor uploaded"
        change = "upload it under Model, then give the plan again"
        raise PlanError("PLAN_MODEL_GONE", what, f"in {file_name}", change)
    upload = state.uploaded(label)
    data = upload.data if upload else load_sample(label)
    return _model_name(label), data, upload.sha256 if upload else ""


def _model_name(label: str) -> str:
    return PurePath(state.short_name(label)).stem if query.is_upload(label) else label


def _chip(origin: Origin, file_name: str, choices: Choices) -> tuple[str, bytes | None]:
    """Name and bytes of the chip with the plan's numbers; its name may be another.

    Raises:
        PlanError: PLAN_CHIP_GONE.
    """
    for name, data, digest in _chips(choices):
        if digest == origin.profile_digest:
            return name, data
    name = safe_text(origin.profile, max_length=SHOWN)
    what = f"no chip here has the numbers of the plan's chip {name}"
    change = "upload its profile under Chip, then give the plan again"
    raise PlanError("PLAN_CHIP_GONE", what, f"in {file_name}", change)


def _chips(choices: Choices) -> Iterator[tuple[str, bytes | None, str]]:
    """Name, bytes and digest of the bar's chip and of all others that it offers."""
    for label in dict.fromkeys((choices.chip, *state.chip_names())):
        try:
            name, data = chips.source_of(label)
            yield state.short_name(label), data, chip_digest(read_profile(name, data))
        except GraphTurboError:  # an upload that is gone
            continue
