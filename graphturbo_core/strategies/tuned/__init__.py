"""`tuned`: a seeded search over the choices of `graphturbo`, or of `graphturbo:plus`.

It substitutes for the vendor's hand-written code, which is not published. A refused plan counts as
an evaluation.

- `strategy.py`: the Strategy with its options.
- `starts.py`: named schedules at the start: `:full`, `:order`, whole layers, its options one at a
  time, a half and a quarter of the capacity.
- `layer_classes.py`, `space.py`, `beyond.py`: variables: for the whole model, per class of
  equivalent layers, and per pair of adjacent classes; `beyond.py` adds `plus`'s.
- `shaping.py`, `orders.py`: a point to groups, splits, order and residencies.
- `crossing.py`: whether and how a second axis cuts a group's pieces.
- `retention.py`: GB retention of a point, recomputed from its plan and simulation.
- `making.py`: a point to a Plan by `graphturbo`'s own steps; also remote DRAM shares and
  cooperation.
- `trials.py`, `sampler.py`: each distinct plan is evaluated once; Optuna's sampler, seeded.
- `proposed.py`: with `tuned.space=plus`: all proposals of `plus` as evaluated points, outside the
  budget. So the result is never slower than `plus`.
- `search.py`: the loop: starts, decisions for the whole model, then neighbourhoods of the best
  point, until `tuned.evaluations` are used.
- `differences.py`: decisions that list where the best plan differs from `:full`'s or `:plus`'s.

The same seed gives the same search on every machine; nothing depends on time. A plan file stores
the result and runs it without a search. Plan edits are refused, and so is the assumption register,
which would search once per assumption.
"""
