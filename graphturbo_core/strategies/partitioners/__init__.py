"""Partitioners of other compilers as strategies: one kernel per group of ops, DRAM between.

Each follows the rules that its source names; its docstring says what differs here.

- `op_kernels.py`: groups of ops to a Plan, shared by all.
- `glow.py`: Glow's stacking of data-parallel instructions.
- `xla.py`, `xla_fusion.py`, `xla_rules.py`: XLA's instruction fusion.
"""
