"""KernelPlan -> stages: its loop nests in order, and each core's share.

- `owned.py`: the part of each tensor that a kernel owns; the rest is halo.
- `stage.py`: stages, their shares, and the operands they read from outside.
- `reached.py`: the operands that a part of a stage's output may read.
- `views.py`: tensors that are another tensor's bytes, so nothing copies them.
- `expected.py`: expected times of stages without address conflicts.
- `classes.py`, `folding.py`: classes of equivalent cores, of which one is simulated.
- `owners.py`: owner of each part of a tensor, and its simulated core.
- `fetches.py`: weight boxes by core to transfers and their receivers.

Folding: cores with equal extents in all stages form one class. This applies to chips of more than
64 cores per cluster, and where even the widest tiles exceed the cap. Chips with a shared matrix
engine are not folded. The lowest core is simulated; an instruction represents `cores` cores, and
Program sums bytes and work over these. Sums are exact, except where tiles read blocks that do not
nest, or parts of a concatenation in two memories.

Shared ports are occupied once per core of a class. A move occupies its engine until all cores of
the class are done. A core's reads of others' shares differ within a class, so conflicts use the
equivalent box of the owner's simulated core. A verified run simulates each core.
"""
