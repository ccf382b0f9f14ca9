"""A profile's YAML bytes -> Hardware -> MemoryBudget.

In: a YAML file of `hardware_profiles`, or an uploaded one. Out: one validated chip in bytes, bytes
per second and cycles.

- `schema.py`: sections, keys, units and ranges of a profile. Every number is an `Entry` with its
  source.
- `refusals.py`: a schema error becomes a ProfileError with file, key, value and allowed range.
- `hardware.py`: Hardware, the frozen value that all later steps read.
- `profile.py`: reads and validates a profile; lists the shipped ones.
- `variation.py`: a profile with one number changed, for the assumption register.
- `edits.py`: a profile with typed texts at its keys, and why one is refused.
- `tile_rules.py`: numbers of lowering without a source; they are the `lowering.*` options.
- `memory_budget.py`: MemoryBudget: division of LB and GB by purpose.

MemoryBudget is computed once from Hardware and TileRules. Planning and lowering both use it. A
source that starts with `assumption:` puts its number into the assumption register.
"""
