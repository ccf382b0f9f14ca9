"""GraphTurbo (OSDI 2023): groups of layers, their piece counts, and the order of instances.

In: a Target. Out: a Plan, assembled by `strategies/steps/assemble.py`.

- `levels.py`: what `gb`, `lb`, `order`, `full` and `plus` switch on.
- `strategy.py`: the recipe: the algorithms in their order.
- `coarse.py`, `mended_order.py`: the coarse graph during merging, its order repaired per merge.
- `grouping.py`: Algorithm 2: which layers are split together. `live/` updates the peak bytes.
- `fitting.py`: more pieces until the part of every core fits its LB.
- `ordering.py`: Algorithm 3: instances depth first.
- `constrained_splits.py`: Algorithm 1 where a plan file fixes piece counts or axes.

Algorithm 1 (splitting) and Algorithm 4 (binding) are in `strategies/steps`; other strategies use
them too.

docs/decisions.md lists what the paper leaves open, our choice, and the option with the literal
form.
"""
