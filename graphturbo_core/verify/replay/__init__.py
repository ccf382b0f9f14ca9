"""Trace -> numbers of the graph outputs, compared with ONNX Runtime on the unsplit model.

- `script.py`: the Trace's rows as Python values, and checks of them.
- `memory.py`: the chip's memories: a shadow map of each byte's owner, and the numbers.
- `replay.py`: every instruction in simulated time: reads at its start, writes at its end.
- `reference.py`: the unsplit model on whole inputs.
- `tolerance.py`: largest difference of two correct evaluations, by reduction lengths and types.
- `compare.py`: outputs of all rounds, joined, against the reference.

Buffers are poisoned when opened and dropped after their last access. So a read of unwritten bytes
is detected.
"""
