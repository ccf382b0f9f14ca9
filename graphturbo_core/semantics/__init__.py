"""Graph -> GraphSemantics: per op the boxes that it needs, its work, cycles and fusion kind.

- `access.py`: the types: AxisMap, InputAccess, OpSemantics, FusionKind.
- `ops/`: entries: functions from one op to its OpSemantics, one file per family.
- `entries.py`: the one table (domain, op type) -> entry, and `resolve`.
- `table.py`: `analyse`: every op of a graph resolved: GraphSemantics.
- `layouts.py`: names of the axes of results, by op types and ranks.
- `kinds.py`: equal numbers for ops that differ only by names.
- `propagate.py`: boxes that a set of ops needs and computes for wanted boxes of its results.
- `picks.py`: gathers whose constant indices pick from each sample alone.
- `independence.py`, `sample_axis.py`: whether samples of a batch may be computed separately, and
  the axis of the samples in each tensor.
- `nests.py`: loop nests: ops of one layer that share tiles.
- `known_needs.py`: cache of the boxes that cores read, for equivalent nests.
- `work.py`: work of an output box, and of whole graphs.
- `feeding.py`: how engines get operands: shared or own weight fetches, one or two tile buffers,
  depthwise work on one engine or on both.
- `cost.py`: cycles of a piece of work per engine, and the engine that runs an op.
- `fit.py`: closed form of the live bytes in a core's LB.

An op without a usable entry is opaque. It runs whole, and a note reports its share of the bytes.

`GraphSemantics.cluster_ops` read and write memories beyond LB. Some run on a matrix engine that the
cores share (chip `goya`). The others are `passing_ops`: ops larger than an LB whose bytes stream
through core 0's LB.

Independence is checked, not assumed. The first and the last piece of every output are followed back
to the inputs. If a sample needs other samples' numbers, one cluster runs the whole batch, with a
note.
"""
