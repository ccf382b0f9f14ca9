"""Reports, Plans and Programs -> files, and files -> plans and differences.

- `files.py`: names of the files of a run.
- `trace_json.py`: Trace Event JSON for Chrome and Perfetto.
- `dot.py`, `group_dot.py`: groups as DOT clusters; one sub-graph as DOT.
- `plan_file.py`: PlanFile and its origin: another strategy, format, option, chip or graph is
  refused.
- `plan_write.py`, `yaml_text.py`: PlanFile to YAML; common parts of kernels are written once.
- `plan_schema.py`, `plan_read.py`: keys, types and ranges; bytes to PlanFile.
- `edit_list.py`: edits of a plan as a list; adds and removes one edit.
- `program_text.py`: a Program as a listing, one line per instruction.
- `plan_diff.py`: differences of two plan files: groups by the ops they share, tensors by place.
- `program_diff.py`: differences of two listings: counts, bytes, first instruction per kernel.
- `differences.py`, `difference.py`: two texts to rows of differences.

Plan files are untrusted input. Sizes are capped, aliases and tags refused, keys and ranges checked.
A record changed by hand is refused; changes belong below `edits`.
"""
