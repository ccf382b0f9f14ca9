"""`best`: the fastest schedule that is found, cluster batch included.

- `strategy.py`: the strategy, its options, and what it compares cluster batches by.
- `goal.py`: what is minimised: time, or traffic of DRAM.
- `blocks.py`: runs of layers between places that one tensor crosses.
- `segment_cycles.py`: closed form of a segment in a split, overflow and refetches included.
- `segments.py`: runs of blocks and single layers, with all splits.
- `planned.py`: the cheapest segments in a row, corrected by what was simulated.
- `next_best.py`: per group what the next best decision would have cost.
- `method.py`: the layers in which the paper's method decides otherwise, and what that costs.
- `feedings.py`: the best plan with three tile buffers, or depthwise work on both engines.
- `early_inputs.py`: the best plan with inputs of the model in GB before their kernels begin.
- `search.py`: plans of that program, their crossovers, and `graphturbo:plus`'s proposals.
"""
