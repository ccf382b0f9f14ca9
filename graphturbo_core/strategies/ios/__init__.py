"""Numbered ops and their edges -> IOS's search space, and the schedule of least latency.

- `dag.py`: OpDag: a topological order and the direct successors of each op.
- `endings.py`: Endings: states of a block, the stages that can end each, and the pruning.
- `counts.py`: `search_space`: width, bound, and counts of states, pairs and schedules.
- `best_stages.py`: `best_schedule`: the dynamic program over states.
- `fixed_stages.py`: `sequential` and `greedy`, the schedules that IOS is compared with.
- `block_cut.py`: `blocks`: the graph cut where a single tensor passes.
- `merged_endings.py`: `best_merged_schedule`: stages that are one convolution, too; their counts.
- `stage_times.py`: StageTimes: the cycles of a stage, simulated or estimated.
- `stage_kernels.py`: StageKernels: the layers that stages consist of; merged ones are one.
- `merge_search.py`: MergeSearch: the convolutions that are merged on a chip, by simulation.
- `merging_levels.py`: MergingLevels: the option of levels `merge` and `both`, and their graph.
- `core_parts.py`: CoreTimes: the cores of one cluster divided among the groups of a stage.
- `stage_plans.py`: StagePlans: stages to a Plan, on clusters or on parts of the cores of one.
- `strategy.py`: `ios`: the stages of a model's layers on a chip's clusters, as a Plan.

A stage is a tuple of groups, which run concurrently. A group is a tuple of ops, which run in
sequence. A state is a set of ops that has all predecessors of its ops. An ending of a state is a
stage that can run last in it. Every group consists of one op and all its successors in the state.

Ops are numbers from 0 to n - 1; an edge is a pair (producer, consumer). Files up to
`merged_endings.py` are independent of models and chips: the caller gives the latency of a stage,
and the sets of ops that can be one convolution.

Source: "IOS, Ding et al., MLSys 2021". Endings are those that the authors' program lists, and the
counts are those of the paper's table.
"""

from graphturbo_core.strategies.ios.best_stages import IosSchedule, best_schedule
from graphturbo_core.strategies.ios.block_cut import blocks
from graphturbo_core.strategies.ios.counts import IosSpace, search_space
from graphturbo_core.strategies.ios.fixed_stages import greedy, sequential
from graphturbo_core.strategies.ios.merged_endings import (
    MergedSchedule,
    MergeLatencies,
    best_merged_schedule,
    merged_pairs,
)

__all__ = [
    "IosSchedule",
    "IosSpace",
    "MergeLatencies",
    "MergedSchedule",
    "best_merged_schedule",
    "best_schedule",
    "blocks",
    "greedy",
    "merged_pairs",
    "search_space",
    "sequential",
]
