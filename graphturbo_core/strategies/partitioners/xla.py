"""`xla`: loops between products fused as XLA does for GPUs; products are calls of a library.

Source: XLA's `instruction_fusion.cc`, `gpu_fusible.cc` and multi-output fusion (reference page on
schedulers, section 1; marks there say what is recalled).

`xla_fusion.py` has the passes, `xla_graph.py` the paths between fusions, `xla_rules.py` the classes
of ops, `Xla.departures` what differs here.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from graphturbo_core.frontend.passes.clean_up import LAYER_NORM, SOFTMAX
from graphturbo_core.option_fields import switch
from graphturbo_core.products.plan import Plan
from graphturbo_core.strategies.partitioners.op_kernels import BETWEEN_LAYERS, plan_of_kernels
from graphturbo_core.strategies.partitioners.xla_fusion import fused_kernels
from graphturbo_core.strategies.steps.kernels import Target
from graphturbo_core.strategies.strategy import Strategy


@dataclass(frozen=True, kw_only=True)
class Xla(Strategy):
    """One kernel per fusion or product; DRAM between kernels."""

    name: ClassVar[str] = "xla"
    doc: ClassVar[str] = "loops between products fused, cheap ops computed again (XLA)"
    source: ClassVar[str] = "XLA: instruction_fusion.cc, gpu_fusible.cc, multi-output fusion"
    departures: ClassVar[tuple[str, ...]] = (
        "Ops are those of the ONNX graph, with layer norm and softmax decomposed. Instructions of"
        " XLA are finer: a mean is a sum and a division there.",
        "Reverse post-order is the graph's order from its end.",
        "Fusion merger and horizontal fusion are absent. The first repeats producers, as the second"
        " pass does; the second joins kernels without common operands.",
        "Multi-output fusion is two walks from the graph's beginning, first over siblings. Readers"
        " of a model's input are no siblings. All reductions of a fusion count, nested or not.",
        "The second pass takes fusions as producers too, which is fusion merger's work in XLA.",
        "XLA's estimates of run time and code size are absent.",
        "Float divisions, exponentials and roots are expensive. XLA on a GPU counts them as cheap"
        " in f32 and f16.",
        "Sines and cosines are expensive. XLA counts them as cheap for real numbers.",
        "A reduction is fused into its reader. Newer versions of XLA fuse only conversions and"
        " reshapes behind a reduction of whole rows or columns.",
        "A result of the model is never computed again by its readers. XLA has this rule only for"
        " a graph with one result.",
        "Two reductions with operands of one shape may share a kernel. XLA also requires equal"
        " axes.",
        "The loops of a reduction always have its operand's shape. In XLA that is so only for whole"
        " rows or columns.",
        "Transposes, and single ops that move data, take part in multi-output fusion. XLA excludes"
        " them.",
        "A conversion is widening if the chip stores more bytes per element of its result.",
        "A fusion has at most 256 ops, which is TVM's limit.",
        "The limit of a GPU's shared memory is absent: what LB has no room for goes to GB or DRAM.",
        BETWEEN_LAYERS,
    )
    is_fine: ClassVar[bool] = True
    is_by_op: ClassVar[bool] = True

    repeats: bool = switch(
        "a cheap op with several readers is computed again in each; broadcasts and widening"
        " conversions always are"
    )
    several_results: bool = switch("multi-output fusion: a kernel may hand out several results")

    @property
    def import_passes(self) -> tuple[str, ...]:
        """XLA's own decompositions."""
        return (LAYER_NORM, SOFTMAX)

    def plan(self, target: Target) -> Plan:
        """Fuse and assemble."""
        found = fused_kernels(
            target.semantics,
            target.number_format,
            may_repeat=self.repeats,
            has_several_results=self.several_results,
        )
        return plan_of_kernels(target, self.name, found)
