"""What is varied, and by which strategies -> the runs of all points, each with its own chip."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from itertools import cycle

from graphturbo_core.frontend.catalogue import load_sample
from graphturbo_core.hardware.profile import profile_tree
from graphturbo_core.plain_yaml import Plain
from graphturbo_core.run_request import RunRequest
from graphturbo_core.sweep.axes import (
    BATCH,
    CLUSTER_BATCH,
    RUN_KEYS,
    Axis,
    Value,
    numbers_at,
    value_at,
)
from graphturbo_core.sweep.knobs import (
    GB_KEY,
    LB_KEY,
    Knob,
    exact_value_for,
    knobs_of,
    number_for,
    own_value,
    text_of,
    value_for,
)
from graphturbo_core.sweep.tasks import Point, points_of, run_at
from graphturbo_ui.jobs import Source, run_key
from graphturbo_ui.session import query, state
from graphturbo_ui.session.choices import Choices, Side
from graphturbo_ui.sizes import proposed_sizes

HALVES = Fraction(3, 2)
"""Between a value and its double, where a curve is to be finer."""


@dataclass(frozen=True)
class Span:
    """A knob over multiples of what it is at present; `factors` rise.

    `most`: no multiple is above. `typed`: numbers, rising, that count instead of the multiples.
    """

    knob: Knob
    own: int
    factors: tuple[Fraction, ...]
    most: int | None = None
    typed: tuple[int, ...] = ()

    @cached_property
    def numbers(self) -> tuple[int, ...]:
        """The numbers, each once, rising."""
        return tuple(number_for(self.knob, self.own, value) for value in self.axis.values)

    @cached_property
    def axis(self) -> Axis:
        """The axis of a sweep over them."""
        if self.typed:
            exact = (exact_value_for(self.knob, self.own, number) for number in self.typed)
            return Axis(self.knob.key, tuple(exact))
        values: dict[int, Value] = {}
        for factor in self.factors:
            value = value_for(self.knob, self.own, factor)
            if self.most is None or number_for(self.knob, self.own, value) <= self.most:
                values.setdefault(number_for(self.knob, self.own, value), value)
        return Axis(self.knob.key, tuple(values.values()))

    @property
    def texts(self) -> tuple[str, ...]:
        """The numbers with their unit."""
        return tuple(text_of(self.knob, number) for number in self.numbers)

    @property
    def own_place(self) -> int | None:
        """The place of what it is at present."""
        return self.numbers.index(self.own) if self.own in self.numbers else None


@dataclass(frozen=True)
class Variant:
    """A strategy with options; `letter`: the side of the bar that it is, empty for none."""

    strategy: str
    options: Mapping[str, str] = field(default_factory=dict)
    letter: str = ""

    @property
    def name(self) -> str:
        """`B · graphturbo@16`, or the strategy alone."""
        return f"{self.letter} · {self.strategy}" if self.letter else self.strategy

    @property
    def who(self) -> str:
        """`B`, or the strategy: for sentences."""
        return self.letter or self.strategy


@dataclass(frozen=True)
class AskedPoint:
    """A point of a model, by its label, and all that its run needs; `key` names the run."""

    point: Point
    request: RunRequest = field(repr=False)
    source: Source = field(repr=False)
    model: str = ""

    @cached_property
    def key(self) -> str:
        """The digest of everything that the run's figures depend on."""
        return run_key(self.request, self.source)


@dataclass(frozen=True)
class Bench:
    """A model and a chip on which points are run: the present choices."""

    choices: Choices
    tree: Mapping[str, Plain] = field(repr=False)

    @classmethod
    def of(cls, choices: Choices) -> Bench:
        """The bench of these choices.

        Raises:
            ProfileError: the chip is no readable profile.
        """
        return cls(choices, profile_tree(state.short_name(choices.chip), choices.source.profile))

    @cached_property
    def knobs(self) -> tuple[Knob, ...]:
        """What can be varied."""
        return knobs_of(self.tree)

    def own(self, knob: Knob) -> int:
        """What a knob is at present; of the cluster batch, that of B, else of A."""
        if knob.key == BATCH:
            return self.choices.batch
        if knob.key == CLUSTER_BATCH:
            sides = reversed(list(self.choices.sides.values()))
            batches = (query.split_strategy(side.strategy)[1] for side in sides)
            found = next((batch for batch in batches if batch), self.cluster_share())
            return min(found, self.cluster_share())
        return own_value(knob, self.tree) or 1

    def most(self, knob: Knob) -> int | None:
        """The largest value of a knob that is another run than smaller ones; None: any."""
        most = {BATCH: query.MAX_BATCH, CLUSTER_BATCH: self.cluster_share()}
        return most.get(knob.key)

    def cluster_share(self) -> int:
        """Samples of the batch for each cluster."""
        clusters = next(knob for knob in self.knobs if knob.key == "chip.clusters")
        return max(1, self.choices.batch // self.own(clusters))

    def variants(self, names: Sequence[str]) -> tuple[Variant, ...]:
        """Strategies by name with the options that A or B has for them; of none named, A and B.

        A search takes minutes for each point, hence it runs only where it is named.
        A side that is bound to a plan gives its strategy without the plan, and no letter.
        """
        sides = self.choices.sides
        wanted = names or [s.strategy for s in sides.values() if not query.is_search(s.strategy)]
        found: dict[tuple[str, str], Variant] = {}
        for name in wanted or [query.DEFAULT_A]:
            same = [(k, s) for k, s in sides.items() if s.strategy == name and not s.plan]
            for key, side in same or [("", Side(name, {}))]:
                options = query.texts_of(side.options)
                variant = Variant(name, side.options, key.upper())
                found.setdefault((name, "\n".join(options)), variant)
        return tuple(found.values())

    def points(self, spans: Sequence[Span], variants: Sequence[Variant]) -> list[AskedPoint]:
        """The runs of all combinations of the spans' values and the variants."""
        return self.at([span.axis for span in spans], variants)

    def at(self, axes: Sequence[Axis], variants: Sequence[Variant]) -> list[AskedPoint]:
        """The runs of all combinations of the axes' values and the variants."""
        points = points_of(axes, [variant.strategy for variant in variants])
        bases = [self._request(variant) for variant in variants]
        return [self._asked(point, base) for point, base in zip(points, cycle(bases), strict=False)]

    def _asked(self, point: Point, base: RunRequest) -> AskedPoint:
        request, profile = run_at(replace(base, strategy=point.strategy), point, self.tree)
        source = self.choices.source
        made = Source.of(source.model, profile, source.model_sha256)
        return AskedPoint(point, request, made, self.choices.model)

    def _request(self, variant: Variant) -> RunRequest:
        side = Side(variant.strategy, variant.options)
        return replace(self.choices, sides={"a": side}, verify=False, emit=()).request("a")

    def known(self, points: Sequence[AskedPoint]) -> dict[str, tuple[RunRequest, Source]]:
        """A's and B's runs, by the keys of the points that are the same runs."""
        found = {}
        source = self.choices.source
        for key, side in self.choices.sides.items():
            if side.plan or query.strategy_fault(side.strategy):
                continue
            request = self.choices.request(key)
            plain = replace(request, verify=False, emit=(), has_pictures=False)
            for point in points:
                is_same_model = point.source.model_sha256 == source.model_sha256
                if is_same_model and point.request == plain and self._is_own(point):
                    found[point.key] = request, source
        return found

    def _is_own(self, point: AskedPoint) -> bool:
        """Whether a point leaves the chip as it is."""
        return all(
            number == value_at(self.tree, name)
            for key, value in point.point.values
            if key not in RUN_KEYS
            for name, number in numbers_at(self.tree, key, value).items()
        )

    def buffer_bytes(self, spans: Sequence[Span], place: Sequence[int]) -> int:
        """Bytes of all LBs and GBs of the chip, without staging, at these places of the spans."""
        keys = {knob.key: knob for knob in self.knobs}
        numbers = {key: self.own(knob) for key, knob in keys.items()}
        numbers |= {span.knob.key: span.numbers[at] for span, at in zip(spans, place, strict=True)}
        per_cluster = numbers.get(GB_KEY, 0) + numbers["cluster.cores"] * numbers[LB_KEY]
        return numbers["chip.clusters"] * per_cluster

    def with_model(self, label: str) -> Bench:
        """The same chip with another model, at the batch and sizes that this one proposes."""
        if label == self.choices.model:
            return self
        kept = state.uploaded(label)
        data = kept.data if kept else load_sample(label)
        sizes = proposed_sizes(label, data)
        source = Source.of(data, self.choices.source.profile, kept.sha256 if kept else "")
        changed = replace(
            self.choices, model=label, source=source, batch=sizes.batch, dims=sizes.dims
        )
        return Bench(changed, self.tree)


def factors_between(low: int, high: int, is_fine: bool = False) -> tuple[Fraction, ...]:
    """Powers of two from `2**low` to `2**high`; with what lies half-way, where it is to be fine."""
    found = []
    for exponent in range(low, high + 1):
        factor = Fraction(2) ** exponent
        found.append(factor)
        if is_fine and exponent < high:
            found.append(factor * HALVES)
    return tuple(found)


def without_batch(strategy: str) -> str:
    """A strategy without the cluster batch that it names."""
    return query.split_strategy(strategy)[0]


def strategy_names(choices: Choices) -> list[str]:
    """Strategies that can be chosen: A's, B's, then all others with their levels."""
    found = [side.strategy for side in choices.sides.values()] + query.every_strategy()
    return [name for name in dict.fromkeys(found) if not query.strategy_fault(name)]
