"""GraphTurbo, Algorithms 1 to 4 of the paper (OSDI 2023), one file per algorithm.

In: a Target. Out: a Plan, assembled by `strategies/steps/assemble.py`.

- `levels.py`: what `gb`, `lb`, `order`, `full` and `plus` switch on.
- `strategy.py`: the recipe: the algorithms in their order.
- `layer_graph.py`: layers, the tensors between them, and how axes carry over.
- `carry.py`: position of one axis of a result in each tensor of a sub-graph.
- `splitting.py`: Algorithm 1: axis and piece count that fit the cores.
- `coarse.py`, `mended_order.py`: the coarse graph during merging, its order repaired per merge.
- `grouping.py`: Algorithm 2: which layers are split together. `live/` updates the peak bytes.
- `fitting.py`: more pieces until each single core can hold its part.
- `ordering.py`: Algorithm 3: instances depth first.
- `axes.py`: how well each axis of a result is cut over cores.
- `binding.py`: Algorithm 4: which core computes which part of each tensor.
- `placement.py`: where outputs wait: LB for the next instance, else GB, else DRAM.
- `wished_splits.py`: Algorithm 1 where a plan file fixes piece counts or axes.

docs/decisions.md lists what the paper leaves open, our choice, and the option with the literal
form. Bindings name the cluster for ops of an engine that cores share; their tensors are never left
in LB.
"""
