"""Convolutions of one input and one shape become one convolution: a pass that runs on request.

TensorRT merges such layers horizontally, for example the 1x1 branches of an Inception module. The
weights and biases are concatenated along output channels. Each result is a slice of the merged one.

Two convolutions are merged if:

1. Both read the same data.
2. Weights and biases are weights of the model.
3. Both have one group.
4. Kernel shape, strides, dilations and padding are equal.
5. Both have a bias, or none has.
6. The same activation is the only reader of both results, or neither result is read by an
   activation alone.
7. No result's only reader is a sum with another activation: such a sum joins the kernel of its own
   convolution.

The merged convolution is a part of the first one, each slice a part of its own convolution: every
op of the undecomposed graph has a part, and every layer keeps an op. Slices write the results under
their names, so readers and results of the model are unchanged.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise

from graphturbo_core.frontend.passes.parts import Parts
from graphturbo_core.frontend.passes.rewrite import with_ops
from graphturbo_core.ir.graph import AttributeValue, Graph, Op, TensorKind
from graphturbo_core.ir.weight_parts import joined

RULE_MERGED = "convolutions of one input, shape and activation are one convolution"
RULE_WEIGHT = "a weight or bias is computed from data"
RULE_GROUPS = "a convolution has several groups"
RULE_KERNEL = "the kernel shapes differ"
RULE_STRIDES = "the strides differ"
RULE_DILATIONS = "the dilations differ"
RULE_PADDING = "the paddings differ"
RULE_BIAS = "one convolution has a bias, the other has none"
RULE_AFTER = "the activations behind the convolutions differ"
RULE_SUM = "a sum with another value joins the convolution before it"

ACTIVATIONS = frozenset(
    {
        "Clip", "Elu", "Gelu", "HardSigmoid", "LeakyRelu", "Relu", "Selu", "Sigmoid", "Softplus",
        "Softsign", "Tanh", "ThresholdedRelu",
    }
)  # fmt: skip
"""Activations with which TensorRT ends a kernel."""

_PART = "merged"
"""Last part of the name of a merged convolution."""
_CHANNEL_AXIS = 1
_SLICE_OPSET = 1
"""Operator set of a slice with its bounds as attributes."""
_WITH_BIAS = 3
_NOTHING = "none"


@dataclass(frozen=True, slots=True)
class HorizontalPair:
    """Two convolutions of one input, by name: whether they are merged, the rule, its numbers."""

    first: str
    second: str
    rule: str
    numbers: Mapping[str, int | str]

    @property
    def is_merged(self) -> bool:
        """Whether the two are one convolution."""
        return self.rule == RULE_MERGED


@dataclass(frozen=True, slots=True)
class ConvTraits:
    """What decides whether a convolution is merged with another one.

    `fault`: why no convolution fits this one. `by_rule`: texts that must be equal, by rule.
    """

    fault: str
    by_rule: Mapping[str, str]

    @property
    def key(self) -> tuple[str, ...]:
        """Equal for two convolutions without fault that are merged."""
        return tuple(self.by_rule.values())


def merge_horizontal(graph: Graph) -> Graph:
    """Merge every set of at least two such convolutions; linear in ops and weights."""
    sets: dict[str, list[Op]] = {}
    for pair in horizontal_pairs(graph):
        if pair.is_merged:
            first, second = graph.op_by_name[pair.first], graph.op_by_name[pair.second]
            sets.setdefault(first.name, [first]).append(second)
    return merge_sets(graph, sets) if sets else graph


def merge_sets(graph: Graph, sets: Mapping[str, Sequence[Op]]) -> Graph:
    """Merge these sets of convolutions; each fulfils the conditions and has its first one's name.

    Linear in ops and weights.
    """
    spans = {op.name: span for found in sets.values() for op, span in _spans(graph, found)}
    parts = Parts(graph, has_origins=True)
    merged: dict[str, str] = {}
    for op in graph.ops:
        if op.name in sets:
            result = _merge(parts, sets[op.name])
            merged |= {member.name: result for member in sets[op.name]}
        if op.name in spans:
            _slice(parts, op, merged[op.name], spans[op.name])
        else:
            parts.ops.append(op)
    return with_ops(graph, parts.ops, parts.tensors)


def horizontal_pairs(graph: Graph) -> tuple[HorizontalPair, ...]:
    """A pair for every convolution that reads the input of an earlier one.

    Its first op is the first one of the set that the second joins; for a convolution that joins
    none, the first convolution of the input. Inputs are in the order of their first convolutions.
    """
    inputs = convolutions_by_input(graph)
    return tuple(pair for ops in inputs.values() for pair in _pairs_of_input(graph, ops))


def convolutions_by_input(graph: Graph) -> dict[str, list[Op]]:
    """Convolutions by the value that they read, in the order of the graph."""
    by_input: dict[str, list[Op]] = {}
    for op in graph.ops:
        if op.op_type == "Conv" and not op.domain:
            by_input.setdefault(op.inputs[0], []).append(op)
    return by_input


def _pairs_of_input(graph: Graph, ops: Sequence[Op]) -> list[HorizontalPair]:
    traits = {op.name: traits_of(graph, op) for op in ops}
    sets: dict[tuple[str, ...], list[Op]] = {}
    channels: Counter[str] = Counter()
    pairs = []
    for op in ops:
        own = traits[op.name]
        joins = sets.setdefault(own.key, []) if not own.fault else []
        joins.append(op)
        first = joins[0].name
        channels[first] += channels_of(graph, op)
        if len(joins) > 1:
            numbers = {"convolutions": len(joins), "channels": channels[first]}
            pairs.append(HorizontalPair(first, op.name, RULE_MERGED, numbers))
        elif op is not ops[0]:
            rule, texts = _difference(traits[ops[0].name], own)
            pairs.append(HorizontalPair(ops[0].name, op.name, rule, texts))
    return pairs


def _difference(first: ConvTraits, second: ConvTraits) -> tuple[str, dict[str, str]]:
    """The first rule that two convolutions break, and both texts where they differ."""
    if second.fault or first.fault:
        return second.fault or first.fault, {}
    rule = next(rule for rule, text in first.by_rule.items() if text != second.by_rule[rule])
    return rule, {"first": first.by_rule[rule], "second": second.by_rule[rule]}


def traits_of(graph: Graph, op: Op) -> ConvTraits:
    """Rules 2 to 7 for one convolution."""
    kernel = graph.tensors[op.inputs[1]].shape[2:]
    ones = (1,) * len(kernel)
    after = _only_reader(graph, op)
    by_rule = {
        RULE_KERNEL: sizes_text(kernel),
        RULE_STRIDES: sizes_text(_each(op, "strides", ones)),
        RULE_DILATIONS: sizes_text(_each(op, "dilations", ones)),
        RULE_PADDING: _padding(op, len(kernel)),
        RULE_BIAS: "bias" if _has_bias(op) else _NOTHING,
        RULE_AFTER: _activation(after),
    }
    fault = ""
    if any(graph.tensors[name].kind is not TensorKind.WEIGHT for name in op.inputs[1:] if name):
        fault = RULE_WEIGHT
    elif op.attributes.get("group", 1) != 1:
        fault = RULE_GROUPS
    elif after is not None and _is_sum(graph, after):
        fault = RULE_SUM
    return ConvTraits(fault, by_rule)


def sizes_text(sizes: Sequence[int]) -> str:
    """`3x3`."""
    return "x".join(map(str, sizes))


def _each(op: Op, name: str, default: Sequence[int]) -> Sequence[int]:
    """Integers of an attribute."""
    given = op.attributes.get(name)
    return [int(item) for item in given] if isinstance(given, tuple) else default


def _padding(op: Op, rank: int) -> str:
    """Padding in numbers, or the name of the rule that gives it."""
    pads = pads_of(op, rank)
    return str(op.attributes["auto_pad"]) if pads is None else sizes_text(pads)


def pads_of(op: Op, rank: int) -> tuple[int, ...] | None:
    """Padding before all axes, then after them; None where a rule with a name gives it."""
    rule = op.attributes.get("auto_pad", "NOTSET")
    if rule not in ("NOTSET", "VALID"):
        return None
    zeros = (0,) * (2 * rank)
    return zeros if rule == "VALID" else tuple(_each(op, "pads", zeros))


def _has_bias(op: Op) -> bool:
    return len(op.inputs) == _WITH_BIAS and bool(op.inputs[-1])


def _only_reader(graph: Graph, op: Op) -> Op | None:
    """The op that alone reads a convolution's result, which is no result of the model."""
    result = op.outputs[0]
    readers = graph.consumers[result]
    return readers[0] if len(readers) == 1 and result not in graph.output_names else None


def _activation(after: Op | None) -> str:
    """Rule 6: the activation behind a convolution, with all that it depends on."""
    if after is None or after.domain or after.op_type not in ACTIVATIONS:
        return _NOTHING
    given = [f"{name}={value!r}" for name, value in sorted(after.attributes.items())]
    return " ".join([after.op_type, *after.inputs[1:], *given])


def _is_sum(graph: Graph, after: Op) -> bool:
    """Rule 7."""
    is_addition = after.op_type == "Add" and not after.domain
    return is_addition and len(graph.activations_in(after)) > 1


def channels_of(graph: Graph, op: Op) -> int:
    """Output channels of a convolution."""
    return graph.tensors[op.inputs[1]].shape[0]


def _spans(graph: Graph, ops: Sequence[Op]) -> list[tuple[Op, tuple[int, int]]]:
    """Each convolution of a set, and its channels in the merged result."""
    ends = list(accumulate(channels_of(graph, op) for op in ops))
    return list(zip(ops, pairwise((0, *ends)), strict=True))


def _merge(parts: Parts, ops: Sequence[Op]) -> str:
    """Add the merged convolution; returns the name of its result."""
    first, graph = ops[0], parts.graph
    inputs = [first.inputs[0]]
    for index, name in enumerate(("weight", "bias")[: 2 if _has_bias(first) else 1], 1):
        weights = [graph.tensors[op.inputs[index]] for op in ops]
        inputs.append(parts.weight(joined(weights, f"{first.name}/{_PART}/{name}")))
    result = graph.tensors[first.outputs[0]]
    shape = list(result.shape)
    shape[_CHANNEL_AXIS] = sum(channels_of(graph, op) for op in ops)
    output = parts.between(first, _PART, shape, result.dtype)
    what = _PART, first.op_type, first.opset
    return parts.add(first, what, inputs, output, dict(first.attributes))


def _slice(parts: Parts, op: Op, merged: str, span: tuple[int, int]) -> None:
    """Add the slice that writes a convolution's result."""
    given: dict[str, AttributeValue] = {
        "starts": span[:1], "ends": span[1:], "axes": (_CHANNEL_AXIS,),
    }  # fmt: skip
    what = "slice", "Slice", _SLICE_OPSET
    parts.add(op, what, (merged,), parts.graph.tensors[op.outputs[0]], given)
