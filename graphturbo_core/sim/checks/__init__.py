"""Invariants of every Program and Trace, checked on each run.

- `shared_boxes.py`: pairs of accesses of one buffer whose boxes meet and of which one writes.
- `clocks.py`: which instructions have ended when others start, by queues, conflicts and segments.
- `ordering.py`: every such pair is ordered by a dependence, not by luck of the times.
- `first_writes.py`: a buffer divided so that each part has one first write.
- `written.py`: everything read, and every graph output, was written before.
- `invariants.py`: the invariants of a Trace, by sorting and sweeping.

Lowering finds conflicts per kernel, by cells along an axis. Here they are found again in the
finished arrays, in another way, so that an error in one shows in the other.
"""
