"""Strategies that GraphTurbo is compared with.

- `layerwise.py`: `layerwise`: one kernel per op, everything through DRAM.
- `tvm.py`: `tvm`: one kernel per Relay layer; DRAM between kernels.
- `astitch.py`: `astitch`: memory-intensive ops between compute-intensive ones form kernels.
- `stitch.py`: the ops of each AStitch kernel, and their order.
- `stitch_binding.py`: dominant ops divide a kernel over the cores; the others follow.
- `stitch_schemes.py`: the scheme by which each value passes inside a kernel.

AStitch (ASPLOS 2022) is recalled from the paper and mapped to this machine by us. Each file marks
its choices.
"""
