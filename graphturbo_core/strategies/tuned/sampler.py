"""Evaluated points -> the next point: Optuna's sampler, seeded; loaded only when a search runs.

A tree-structured Parzen estimator (Bergstra et al., NeurIPS 2011). It samples values of a variable
more often if they are frequent in good points, or rarely evaluated.
"""

from __future__ import annotations

from collections.abc import Sequence
from types import ModuleType

from graphturbo_core.errors import OptionError
from graphturbo_core.strategies.tuned.space import Point, Variable

REFUSED_CYCLES = 2**62
"""Cost reported to the sampler for a refused point: above all others."""


class Sampler:
    """Learns from evaluated points and samples new ones; deterministic by seed."""

    def __init__(self, variables: Sequence[Variable], seed: int) -> None:
        """Create the sampler, without evaluated points.

        Raises:
            OptionError: NO_OPTUNA.
        """
        self._optuna = load_optuna()
        self._variables = variables
        self._study = self._optuna.create_study(sampler=self._optuna.samplers.TPESampler(seed=seed))

        categories = self._optuna.distributions.CategoricalDistribution
        self._distributions = {each.name: categories(each.values) for each in variables}

    def sample(self, fixed: Point) -> Point:
        """A point with these values; those of other variables are sampled."""
        self._study.enqueue_trial(dict(fixed))
        trial = self._study.ask()
        point = {v.name: trial.suggest_categorical(v.name, v.values) for v in self._variables}
        self._study.tell(trial, state=self._optuna.trial.TrialState.FAIL)
        return point

    def learn(self, point: Point, cycles: int | None) -> None:
        """Report a point's cycles; None: it is refused. Call once per distinct plan."""
        self._study.add_trial(
            self._optuna.trial.create_trial(
                params=dict(point),
                distributions=self._distributions,
                value=REFUSED_CYCLES if cycles is None else cycles,
            )
        )


def load_optuna() -> ModuleType:
    """Returns the module optuna, set to print warnings only.

    Raises:
        OptionError: NO_OPTUNA: it is not installed.
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
