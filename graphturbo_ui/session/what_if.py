"""The session's part of What-if: names in the address, further models, runs, the point picked."""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, TypeVar

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx

from graphturbo_core.sweep.knobs import KNOBS

if TYPE_CHECKING:
    from graphturbo_ui.what_if.point_desk import Hands

ASK, FIGURE = "ask", "figure"
RANGE, GAINS, BUFFERS = "range", "gains", "buffers"
QUESTIONS: Mapping[str, str] = {
    RANGE: "Numbers over a range",
    GAINS: "What would help most",
    BUFFERS: "Smallest LB and GB",
}
CHANGES: Mapping[str, Fraction] = {"20 % more": Fraction(6, 5), "twice": Fraction(2)}
EXPONENTS = tuple(range(-5, 6))
"""Powers of two between which a range may lie."""
MOST_MODELS = 8
MODELS, MODELS_BOX = "models", "models_box"
"""The name of the further models in the address, and the key of their box."""


def multiple_text(exponent: int) -> str:
    """`×4`, or `×1/8`."""
    return f"×{Fraction(2) ** exponent}"


MULTIPLES = tuple(map(multiple_text, EXPONENTS))
NOTHING = "nothing else"
AS_B = "as B"
"""The strategy of B, whatever it is."""
FIGURES = ("Speed", "Time", "DRAM traffic", "Matrix utilisation", "Share of the bound")
"""What can be drawn over a range."""
LABELS = tuple(knob.label for knob in KNOBS)
VALUES: Mapping[str, str] = {
    "over": "values",
    "over2": "values2",
    "lb": "lb_values",
    "gb": "gb_values",
}
"""Per range, the name of the values that are typed instead of it."""
KEYS = (
    ASK, "vary", "over", "values", "vary2", "over2", "values2", "runs", FIGURE, "change",
    "lb", "lb_values", "gb", "gb_values", "by", MODELS,
)  # fmt: skip
"""Names in the address of What-if's page, in the order of a link."""
CHOICES: Mapping[str, tuple[str, tuple[str, ...]]] = {
    ASK: (QUESTIONS[RANGE], tuple(QUESTIONS.values())),
    "vary": ("another number", LABELS),
    "vary2": (NOTHING, (NOTHING, *LABELS)),
    "change": (next(iter(CHANGES)), tuple(CHANGES)),
    FIGURE: (FIGURES[0], FIGURES),
    **{key: ("the usual range", MULTIPLES) for key in ("over", "over2", "lb", "gb")},
}
"""Names of the address with few values: what the page shows instead of another, and the values."""
_PICKED, _HANDS, _ASKED = "what_if_picked", "what_if_hands", "what_if_asked"
_MODELS = "what_if_models"
T = TypeVar("T")


def hands_now() -> Hands | None:
    """The session's runs of points; None where it never looked at the page."""
    return st.session_state.get(_HANDS)


def hands(make: type[Hands]) -> Hands:
    """The session's runs of points."""
    found: Hands = st.session_state.setdefault(_HANDS, make())
    return found


def query() -> list[tuple[str, str]]:
    """The part of a link that restores the page, of what differs from its defaults.

    The address has a value as its box shows it; the further models by their labels.
    """
    found = []
    for key in KEYS:
        for value in st.query_params.get_all(key):
            found.append((key, value))
    return found


def models(known: Container[str]) -> tuple[str, ...]:
    """Labels of the further models: at first those of the link, then those that were chosen last.

    At most `MOST_MODELS`, each once; of a link, those that are `known`. Back and Forward have those
    of the address that they open.
    """
    if _MODELS not in st.session_state or _is_back_or_forward():
        _keep_models([label for label in st.query_params.get_all(MODELS) if label in known])
    found: tuple[str, ...] = st.session_state[_MODELS]
    return found


def _keep_models(labels: Sequence[str]) -> None:
    st.session_state[_MODELS] = tuple(dict.fromkeys(labels))[:MOST_MODELS]


def models_box(known: Container[str]) -> str:
    """The key of the box of further models, which has them when it is drawn for the first time."""
    if MODELS_BOX not in st.session_state or _is_back_or_forward():
        st.session_state[MODELS_BOX] = list(models(known))
    return MODELS_BOX


def take_models(known: Container[str]) -> None:
    """Keep what the box of further models has, and have the address name it; from a callback.

    The browser sends what it has: of that, labels that are `known` count.
    """
    _keep_models([label for label in st.session_state[MODELS_BOX] if label in known])
    _write_models(models(known))


def name_models(ask: str) -> bool:
    """Have the address name the further models where a question has their box; if that changed it.

    Only once the address names the question: Streamlit's page sends a box's value with the address
    from before, and an address written then would have the question before.
    """
    is_named = st.query_params.get(ASK, QUESTIONS[RANGE]) == QUESTIONS[ask]
    if not is_named or _MODELS not in st.session_state:
        return False
    wanted: tuple[str, ...] = st.session_state[_MODELS] if ask == BUFFERS else ()
    is_other = st.query_params.get_all(MODELS) != list(wanted)
    if is_other:
        _write_models(wanted)
    return is_other


def _is_back_or_forward() -> bool:
    """Whether Back or Forward began this run.

    The page's script has the page reloaded instead, except where it is not there yet.
    """
    context = get_script_run_ctx()
    return context is not None and context.is_history_navigation


def _write_models(labels: Sequence[str]) -> None:
    if labels:
        st.query_params[MODELS] = list(labels)
    else:
        st.query_params.pop(MODELS, None)


def forget_values(key: str) -> None:
    """Empty the box of values `key`, as another number is varied; from a callback."""
    st.session_state[key] = ""


def asked(choices: object, question: object, make: Callable[[], T]) -> T:
    """The points of a question, made again where it or the choices of the bar are others."""
    kept: tuple[object, object, T] | None = st.session_state.get(_ASKED)
    if kept is None or kept[0] != choices or kept[1] != question:
        kept = st.session_state[_ASKED] = choices, question, make()
    return kept[2]


def picked() -> str:
    """The key of the point that is picked; empty for none."""
    return str(st.session_state.get(_PICKED, ""))


def pick(key: str) -> None:
    """Have this point picked."""
    st.session_state[_PICKED] = key


def take_point(chart: str, keys: Sequence[Sequence[str]]) -> None:
    """Pick what was clicked in a chart: `keys` has, per trace, the key of each of its points."""
    points = st.session_state[chart].selection.points
    if not points:
        return
    trace, place = points[0]["curve_number"], points[0]["point_index"]
    if trace < len(keys) and place < len(keys[trace]):
        pick(keys[trace][place])


def take_row(table: str, keys: Sequence[str]) -> None:
    """Pick the row ticked in a table; none where no row is ticked any more."""
    rows = st.session_state[table].selection.rows
    pick(keys[rows[0]] if rows and rows[0] < len(keys) else "")
