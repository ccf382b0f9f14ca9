"""One time step of RNN, GRU and LSTM in products and elementwise ops, as ONNX defines them.

A state of zeros is None: products with it are left out.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from graphturbo_core.frontend.passes.steps import TimeSteps
from graphturbo_core.ir.graph import Op

FUNCTIONS: Mapping[str, tuple[float | None, ...]] = MappingProxyType({
    "affine": (None, None), "elu": (1.0,), "hardsigmoid": (0.2, 0.5), "leakyrelu": (0.01,),
    "relu": (), "scaledtanh": (None, None), "sigmoid": (), "softplus": (), "softsign": (),
    "tanh": (), "thresholdedrelu": (None,),
})  # fmt: skip
"""Activation functions in lower case with default alpha and beta: those of ONNX's ops of these
names. None: ONNX has no such op, or ONNX Runtime uses another default."""
_OP_TYPES = MappingProxyType({
    "elu": "Elu", "hardsigmoid": "HardSigmoid", "leakyrelu": "LeakyRelu", "relu": "Relu",
    "sigmoid": "Sigmoid", "softplus": "Softplus", "softsign": "Softsign", "tanh": "Tanh",
    "thresholdedrelu": "ThresholdedRelu",
})  # fmt: skip
DEFAULTS = MappingProxyType(
    {"RNN": ("tanh",), "GRU": ("sigmoid", "tanh"), "LSTM": ("sigmoid", "tanh", "tanh")}
)
"""Default activations per direction: gates (f), gated values (g), the LSTM's cell (h)."""
GATES = MappingProxyType({"RNN": 1, "GRU": 3, "LSTM": 4})
"""Gates in the order of the weights: RNN i; GRU z, r, h; LSTM i, o, f, c."""


@dataclass(frozen=True, slots=True)
class Activation:
    """A function by its name in lower case, with its alpha and beta if it has them."""

    name: str
    numbers: tuple[float, ...]


def activations_of(op: Op, directions: int) -> tuple[tuple[Activation, ...], ...] | None:
    """Returns the functions per direction; None if one, or its alpha or beta, is unknown.

    Alphas and betas are in the order of the functions that use them.
    """
    names = [_text(name) for name in _tuple(op, "activations")]
    names = names or list(DEFAULTS[op.op_type]) * directions
    if len(names) != directions * len(DEFAULTS[op.op_type]) or not FUNCTIONS.keys() >= set(names):
        return None
    rest = [[float(n) for n in _tuple(op, key)] for key in ("activation_alpha", "activation_beta")]
    found = []
    for name in names:
        numbers = tuple(
            number
            for given, default in zip(rest, FUNCTIONS[name], strict=False)
            if (number := given.pop(0) if given else default) is not None
        )
        if len(numbers) < len(FUNCTIONS[name]):
            return None
        found.append(Activation(name, numbers))
    length = len(found) // directions
    return tuple(tuple(found[d * length : (d + 1) * length]) for d in range(directions))


def _tuple(op: Op, name: str) -> tuple[float | str | bytes, ...]:
    value = op.attributes.get(name, ())
    return value if isinstance(value, tuple) else ()


def _text(value: float | str | bytes) -> str:
    return (value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)).lower()


@dataclass(frozen=True)
class Cell:
    """Parameters of a step of one direction; weights by name."""

    steps: TimeSteps
    hidden: int
    functions: tuple[Activation, ...]
    state_weights: tuple[str, ...]
    """[H, gates x H]; for a GRU with reset before the product [H, 2 H] and [H, H]."""
    state_bias: str | None = None
    """[3 H], for a GRU with reset after the product."""
    peepholes: tuple[str, ...] = ()
    """[H] each, for i, o and f."""
    clip: float | None = None
    is_coupled: bool = False
    """LSTM: the forget gate is 1 minus the input gate."""

    def rnn(self, data: str, states: tuple[str | None, ...]) -> tuple[str | None, ...]:
        """H = f(x + h R)."""
        gates = self.steps.plus("gates", data, self._product(states[0], 0))
        return (self._active("state", gates, 0),)

    def gru(self, data: str, states: tuple[str | None, ...]) -> tuple[str | None, ...]:
        """H = (1 - z) c + z h."""
        steps, (state,) = self.steps, states
        seen = self._product(state, 0)
        is_late = len(self.state_weights) == 1
        seen = steps.plus("product with bias", seen, self.state_bias)
        update, reset = (
            self._active(
                name, steps.plus(f"{name} sum", self._gate(data, k), self._gate(seen, k)), 0
            )
            for k, name in enumerate(("update", "reset"))
        )
        if is_late:
            seen = steps.times("reset state", reset, self._gate(seen, 2))
        else:
            seen = self._product(steps.times("reset state", reset, state), 1)
        candidate = self._active(
            "candidate", steps.plus("candidate sum", self._gate(data, 2), seen), 1
        )
        taken = steps.times("taken", steps.less_than_one("share", update), candidate)
        return (steps.plus("state", taken, steps.times("kept", update, state)),)

    def lstm(self, data: str, states: tuple[str | None, ...]) -> tuple[str | None, ...]:
        """C = f c + i g, H = o h(C)."""
        steps, (state, cell) = self.steps, states
        gates = steps.plus("gates", data, self._product(state, 0))
        enter = self._lstm_gate("input", gates, 0, cell)
        if self.is_coupled:
            forget: str | None = steps.less_than_one("forget", enter)
        else:
            forget = self._lstm_gate("forget", gates, 2, cell) if cell else None
        new = self._active("new", self._gate(gates, 3), 1)
        entered, held = steps.times("entered", enter, new), steps.times("held", forget, cell)
        cell = steps.plus("cell", entered, held)
        leave = self._lstm_gate("output", gates, 1, cell)
        return steps.times("state", leave, self._active("seen", cell, 2, is_clipped=False)), cell

    def _lstm_gate(self, name: str, gates: str | None, place: int, cell: str | None) -> str | None:
        gate = self._gate(gates, place)
        if self.peepholes:
            peep = self.steps.times(f"{name} peephole", cell, self.peepholes[place])
            gate = self.steps.plus(f"{name} sum", gate, peep)
        return self._active(name, gate, 0)

    def _product(self, state: str | None, place: int) -> str | None:
        return self.steps.product("product", state, self.state_weights[place])

    def _gate(self, gates: str | None, place: int) -> str | None:
        span = (place * self.hidden, (place + 1) * self.hidden)
        return None if gates is None else self.steps.cut("gate", gates, -1, span)

    def _active(
        self, part: str, data: str | None, place: int, is_clipped: bool = True
    ) -> str | None:
        if data is None:
            return None
        steps, function = self.steps, self.functions[place]
        if self.clip is not None and is_clipped:
            limits = {"min": -self.clip, "max": self.clip}
            data = steps.unary(f"{part} clipped", "Clip", data, limits)
        if function.name in _OP_TYPES:
            given = dict(zip(("alpha", "beta"), function.numbers, strict=False))
            return steps.unary(part, _OP_TYPES[function.name], data, given)
        alpha, beta = (steps.number(number) for number in function.numbers)
        if function.name == "affine":
            return steps.plus(part, steps.times(f"{part} scaled", data, alpha), beta)
        inner = steps.times(f"{part} scaled", data, beta)
        assert inner is not None  # neither operand is
        return steps.times(part, steps.unary(f"{part} tanh", "Tanh", inner, {}), alpha)


Step = Callable[[Cell, str, tuple[str | None, ...]], tuple[str | None, ...]]
STEPS: Mapping[str, Step] = MappingProxyType({"RNN": Cell.rnn, "GRU": Cell.gru, "LSTM": Cell.lstm})
"""One step of each op: the input's part of the gates [1, N, G H] and the states [1, N, H] give the
states after it."""
