"""Kernels of chains -> the same kernels, concatenations joined to the kernels of their operands.

Source: TensorRT's guide on layer fusion, recalled: the layers that make the operands write into the
joined tensor, so the concatenation is no layer. Here it joins the kernel of an operand if:

1. Nothing else reads the operand, and it is no result of the model.
2. That kernel hands out no other results than such operands of the same concatenation.
3. The kernel of the concatenation has `MAX_KERNEL_OPS` ops at most.

Such a kernel hands out the concatenation alone. So it is convex, and no two kernels need each other
(`single_reads`). Operands that do not join are read from DRAM. An operand of a concatenation that
is an operand itself has the kernel of the first one.
"""

from __future__ import annotations

from graphturbo_core.ir.graph import Op
from graphturbo_core.strategies.partitioners.op_kernels import MAX_KERNEL_OPS
from graphturbo_core.strategies.partitioners.single_reads import KernelChains

RULE_JOINED = "nothing else reads the results of the operand's kernel"
RULE_READ_TWICE = "something else reads the operand, or it is a result of the model"
RULE_OTHER_RESULT = "something else reads another result of the operand's kernel"
RULE_CONCAT_FULL = "the kernel of the concatenation has as many ops as allowed"
RULE_CONCAT_OFF = "concatenations do not join the kernels of their operands: switched off"


def close_concat(chains: KernelChains, concat: Op, *, is_joined: bool) -> None:
    """Close the kernel of a concatenation whose operands are in kernels; `is_joined`: the option.

    Linear in the ops of those kernels and their reads.
    """
    graph = chains.graph
    joined: dict[str, tuple[str, ...]] = {}
    for name in graph.activations_in(concat):
        maker = graph.producer.get(name)
        if maker is None:
            continue
        ops = chains.kernel_of(maker)
        count = 1 + len({op for own in joined.values() for op in own} | set(ops))
        rule = _rule(chains, (concat, name), ops) or (
            "" if count <= MAX_KERNEL_OPS else RULE_CONCAT_FULL
        )
        if not rule and not is_joined:
            rule = RULE_CONCAT_OFF
        chains.replace_note(rule or RULE_JOINED, (maker.name, concat.name), is_taken=not rule)
        if not rule:
            joined[ops[-1]] = ops
    chains.join(joined.values(), concat)


def _rule(chains: KernelChains, read: tuple[Op, str], ops: tuple[str, ...]) -> str:
    """Rules 1 and 2: why the kernel of an operand does not join; "" if it does.

    `read`: the concatenation and the operand.
    """
    graph, (concat, operand) = chains.graph, read
    known = {*ops, concat.name}
    results = (name for op in ops for name in graph.op_by_name[op].outputs if name)
    for name in (operand, *results):
        is_inside = all(reader.name in known for reader in graph.consumers[name])
        if name in graph.output_names or not is_inside:
            return RULE_READ_TWICE if name == operand else RULE_OTHER_RESULT
    return ""
