"""A plan as a file: recorded, restored, edited. docs/plan-files.md has the format.

A plan file has a header (choices, digests of model and chip), `edits`, and a record.
`export/plan_write.py` and `export/plan_read.py` convert it to and from YAML.

- `record.py`: Plan to Record: groups, kernels, bindings, scopes, residencies, retained weights.
- `restore.py`: Record to Plan without edits. Boxes are recomputed, everything else is checked and
  taken; no algorithm decides.
- `branches.py`: the same for a record in which kernels have branches.
- `kernels.py`: the kernels of a restored plan; a choice that cannot be carried out is refused.
- `turns.py`: in which step and on which cluster a record's instances run.
- `edits.py`: the user's names become constraints, or are refused.
- `pinned.py`: the plan file of a run, and the check that the plan satisfies its edits.

With edits the strategy decides again. Forced merges come first; forbidden merges are refused; fixed
counts, axes, bindings, scopes and residencies replace chosen ones. After lowering,
`lowering/global_buffer/fixed.py` checks the fixed places.

Edits and record are separate for two reasons. An edit differs from accidental damage: a record
changed by hand is refused. And an edit remains valid when a strategy improves; a record is one
plan.
"""
