"""Invariants of every Program and Trace, checked on each run.

- `shared_boxes.py`: pairs of accesses of one buffer whose boxes intersect and of which one writes.
- `clocks.py`: instructions that have ended when another starts, by queues, conflicts and segments.
- `ordering.py`: every such pair is ordered by a dependence, whatever its cycles are.
- `first_writes.py`: a buffer divided into parts with one first write each.
- `written.py`: every box that is read, and every graph output, was written before.
- `invariants.py`: the invariants of a Trace, by sorting and sweeping.

Lowering finds conflicts per kernel, by cells along an axis. The checks find them again in the
Program's arrays by another algorithm. So an error in one of the two shows as a difference.
"""
