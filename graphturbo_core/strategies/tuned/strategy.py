"""`tuned`: a seeded search over the choices of `graphturbo`, with its options."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

from graphturbo_core.errors import InvariantError, OptionError
from graphturbo_core.option_fields import choice, number
from graphturbo_core.products.plan import Plan
from graphturbo_core.strategies.steps.kernels import Target
from graphturbo_core.strategies.strategy import Strategy
from graphturbo_core.strategies.tuned.making import NAME
from graphturbo_core.strategies.tuned.search import Tuned


@dataclass(frozen=True, kw_only=True)
class TunedSearch(Strategy):
    """The best schedule of a search; substitutes for the vendor's hand-written code."""

    name: ClassVar[str] = NAME
    doc: ClassVar[str] = "the best schedule of a search over graphturbo's choices; takes minutes"
    is_search: ClassVar[bool] = True
    follows_edits: ClassVar[bool] = False

    seed: int = number(0, (0, 10**6), "seed of the search's random choices")
    evaluations: int = number(64, (1, 100_000), "plans that the search lowers and simulates")
    space: Literal["graphturbo", "plus"] = choice(
        "graphturbo", "plus",
        doc="search space: the choices of graphturbo, or also those of graphturbo:plus, with whose "
        "plan the search begins",
    )  # fmt: skip
    starts: Literal["all", "others"] = choice(
        "all", "others",
        doc="starts of the search: all named schedules, graphturbo:full's first, or only those "
        "whose groups or splits differ from graphturbo:full",
    )  # fmt: skip

    @property
    def is_ordered(self) -> bool:
        """Its plans are those of `graphturbo`."""
        return True

    def plan(self, target: Target) -> Plan:
        """Search.

        Raises:
            OptionError: OPTIONS_APART, two options that exclude each other; NO_OPTUNA.
        """
        if target.cost is None:
            what = "'tuned' needs a cost function"
            raise InvariantError("NO_COST", what)
        is_beyond_paper, has_full = self.space == "plus", self.starts == "all"
        if is_beyond_paper and not has_full:
            space, starts = f"{NAME}.space", f"{NAME}.starts"
            what = f"{space}=plus begins with all proposals of graphturbo:plus, :full included"
            raise OptionError("OPTIONS_APART", what, f"{starts}=others", "leave one of them out")
        return Tuned(target.cost, self.seed, self.evaluations, is_beyond_paper, has_full)(target)
