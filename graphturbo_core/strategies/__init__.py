"""A strategy's name, a model and a chip -> Plan.

In: GraphSemantics, Hardware, options, perhaps a plan file. Out: the Plan of one cluster's round.

- `constraints.py`: PlanConstraints: user constraints by layer, tensor and weight.
- `strategy.py`: Strategy: base class, a frozen dataclass whose fields are its options.
- `compared_batches.py`: ComparedBatch: what a search found of one cluster batch, as a decision.
- `graphturbo_levels.py`: `graphturbo` with its options and levels; `plus` goes beyond the paper.
- `registry.py`: STRATEGIES by name, and `NAME[:LEVEL][@CLUSTER_BATCH]` parsed.
- `options.py`: all `--set` options, and strategies made with them.
- `planning.py`: `plan_for`: builds the Target, restores a plan file or calls the strategy.

`layers/` has the model's layers, `steps/` the shared steps. `baselines/`, `partitioners/`, `ios/`,
`graphturbo/`, `plus/`, `best/` and `tuned/` are the strategies. `plan_files/` records, restores and
edits plans.

`graph_search/` searches the graph of `taso-like`, `ios:merge` and `ios:both` before the plan.

A strategy imports neither lowering nor simulator. `ios`, `plus`, `best` and `tuned` get a cost
function in the Target (`Target.cost`): cycles of a round, None where the plan is refused. Other
properties of a strategy are methods of the class: scheduling, feeding, GB use, passes at import.
"""
