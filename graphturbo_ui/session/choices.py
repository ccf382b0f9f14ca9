"""What the top bar says, as one frozen value: its two requests, its link, its command line."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import PurePath
from urllib.parse import urlencode

from graphturbo_core import __version__
from graphturbo_core.export.plan_read import read_plan
from graphturbo_core.pipeline import RunRequest
from graphturbo_ui.jobs import Source
from graphturbo_ui.session import learn, query, run_state, state
from graphturbo_ui.session.paper import row_query

EMITTED = ("plan", "program")
"""What the runs give to take away, once somebody asks for it."""


@dataclass(frozen=True)
class Side:
    """What is chosen for one run: `options` that are its strategy's and not at their default."""

    strategy: str
    options: Mapping[str, str]
    plan: str = field(default="", repr=False)
    plan_digest: str = ""


@dataclass(frozen=True)
class Choices:
    """Everything that the page's runs depend on; `sides` by `a` and `b`.

    `best`: whether a schedule is searched beside both. `rewrites`: whether Schedulers has the
    rewrite searches. `of_pages`: names and values
    that the address gives what pages keep of their own.
    """

    model: str
    chip: str
    source: Source = field(repr=False)
    sides: Mapping[str, Side]
    batch: int
    dtype: str
    dims: Mapping[str, int]
    verify: bool
    best: bool = False
    rewrites: bool = False
    skip_passes: tuple[str, ...] = ()
    emit: tuple[str, ...] = ()
    of_pages: tuple[tuple[str, str], ...] = ()

    def request(self, key: str) -> RunRequest:
        """The run `a` or `b` of these choices; one that holds to a plan has the plan's options.

        Raises:
            PlanError: it is no plan.
        """
        side = self.sides[key]
        data = side.plan.encode()
        origin = read_plan(data, f"the plan of {key.upper()}").origin if data else None
        return RunRequest(
            model_name=PurePath(state.short_name(self.model)).stem
            if query.is_upload(self.model)
            else self.model,
            strategy=side.strategy,
            profile=state.short_name(self.chip),
            batch=self.batch,
            dims=dict(self.dims),
            dtype=self.dtype,
            options=dict(origin.options if origin else side.options),
            skip_passes=origin.skip_passes if origin else self.skip_passes,
            verify=self.verify,
            plan=side.plan,
            emit=self.emit,
        )

    def setting(self) -> str:
        """What both runs share, in words."""
        sizes = [f"{name} {size}" for name, size in self.dims.items()]
        names = (state.short_name(each) for each in (self.model, self.chip))
        return " · ".join([*names, f"batch {self.batch}", *sizes, self.dtype])

    def link(self) -> str:
        """The query that restores these choices, what is selected and the times in sight.

        The version tells who opens it later why figures may differ.
        """
        seen = [*state.seen_query(), *row_query(), *learn.place_query(), *run_state.pair_query()]
        return "?" + urlencode([*self.address(), *seen, ("version", __version__)])

    def address(self) -> list[tuple[str, str]]:
        """Names and values that the address gives these choices."""
        named: list[tuple[str, str]] = [("model", self.model), ("chip", self.chip)]
        named += [(key, side.strategy) for key, side in self.sides.items()]
        named += [("batch", str(self.batch)), ("dtype", self.dtype)]
        named += [(query.dimension_key(name), str(size)) for name, size in self.dims.items()]
        named += [("verify", "true")] if self.verify else []
        named += [("best", "true")] if self.best else []
        named += [(run_state.REWRITES, "true")] if self.rewrites else []
        named += [("skip", name) for name in self.skip_passes]
        for key, side in self.sides.items():
            named += [(f"plan_{key}", side.plan_digest)] if side.plan else []
            options = {} if side.plan else side.options
            named += [(f"set_{key}", text) for text in query.texts_of(options)]
        return [*named, *self.of_pages]

    def widgets(self) -> dict[str, object]:
        """The values of the bar's widgets that make these choices, by key; options apart."""
        return {
            "model": self.model,
            "chip": self.chip,
            **{key: side.strategy for key, side in self.sides.items()},
            "batch": self.batch,
            "dtype": self.dtype,
            **{query.dimension_key(name): size for name, size in self.dims.items()},
        }

    def command(self) -> str:
        """The command line that computes the same two runs; a run each where they differ in more.

        A plan brings its own options along.
        """
        sides = self.sides.values()
        options = [side.options for side in sides]
        if not any(side.plan for side in sides) and all(each == options[0] for each in options):
            strategies = ",".join(side.strategy for side in sides)
            return self.command_of(["compare"], ["--strategies", strategies], options[0])
        return "\n".join(
            self.command_of(
                ["run"],
                ["--strategy", side.strategy]
                + (["--plan", f"{key}.plan.yaml"] if side.plan else []),
                {} if side.plan else side.options,
            )
            for key, side in self.sides.items()
        )

    def command_of(self, verb: list[str], own: list[str], options: Mapping[str, str]) -> str:
        """The command line of a verb on these choices, with its own words and strategy options."""
        words = ["python", "-m", "graphturbo_core", *verb, state.short_name(self.model)]
        words += ["--profile", state.short_name(self.chip), *own, "--batch", str(self.batch)]
        for name, size in self.dims.items():
            words += ["--dim", f"{name}={size}"]
        words += ["--dtype", self.dtype]
        for text in query.texts_of(options):
            words += ["--set", text]
        for name in self.skip_passes:
            words += ["--skip-pass", name]
        return shlex.join([*words, *(["--verify"] if self.verify else [])])
