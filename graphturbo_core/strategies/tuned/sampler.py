"""Evaluated points -> the next point: Optuna's sampler, seeded; loaded only when a search runs.

A tree-structured Parzen estimator (Bergstra et al., NeurIPS 2011): of each variable, values that
stood in good points more often than in others, and those hardly tried, are drawn more often.
"""

from __future__ import annotations

from collections.abc import Sequence
from types import ModuleType

from graphturbo_core.errors import OptionError
from graphturbo_core.strategies.tuned.space import Point, Variable

REFUSED_CYCLES = 2**62
"""What the sampler is told of a refused point: worse than any other."""


class Sampler:
    """One search: asked for a point, told what came of it, in turn; the same seed, the same."""

    def __init__(self, variables: Sequence[Variable], seed: int) -> None:
        """Nothing is evaluated yet.

        Raises:
            OptionError: NO_OPTUNA.
        """
        self._optuna = load_optuna()
        self._variables = variables
        self._study = self._optuna.create_study(sampler=self._optuna.samplers.TPESampler(seed=seed))

    def ask(self, fixed: Point) -> Point:
        """A point with these values; those of other variables are sampled."""
        self._study.enqueue_trial(dict(fixed))
        self._trial = self._study.ask()
        return {
            each.name: self._trial.suggest_categorical(each.name, each.values)
            for each in self._variables
        }

    def tell(self, cycles: int | None) -> None:
        """What the point asked for last costs; None: it is refused."""
        self._study.tell(self._trial, REFUSED_CYCLES if cycles is None else cycles)

    def forget(self) -> None:
        """The point asked for last was known: it is not counted twice."""
        self._study.tell(self._trial, state=self._optuna.trial.TrialState.FAIL)


def load_optuna() -> ModuleType:
    """The module optuna, told to print warnings only.

    Raises:
        OptionError: NO_OPTUNA where it is not installed.
    """
    try:
        import optuna  # noqa: PLC0415 - half a second that no other strategy should cost
    except ImportError as error:
        raise OptionError(
            "NO_OPTUNA",
            "the search of 'tuned' needs Optuna, which is not installed",
            "--strategy tuned",
            "install optuna (pip install -r requirements.txt)",
        ) from error
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    return optuna
