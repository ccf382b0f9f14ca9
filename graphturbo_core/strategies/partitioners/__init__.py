"""Partitioners of other compilers as strategies: one kernel per group of ops, DRAM between.

Each follows the rules that its source names; its docstring says what differs here.

- `op_kernels.py`: groups of ops to a Plan, shared by all.
- `glow.py`: Glow's stacking of data-parallel instructions.
- `onednn.py`, `onednn_patterns.py`: oneDNN Graph's chains of post-ops, attention, gated perceptron.
- `joined_operands.py`: concatenations in the kernels of their operands, for `tensorrt-like`.
- `op_classes.py`: classes of ops that chains ask for.
- `single_reads.py`: chains of ops that alone read each other's results.
- `tensorrt_like.py`: products with their epilogue, merged convolutions, runs of elementwise ops.
- `taso_like.py`: kernels of `tensorrt-like` on the graph that a search found.
- `xla.py`, `xla_fusion.py`, `xla_graph.py`, `xla_rules.py`: XLA's instruction fusion.
"""
