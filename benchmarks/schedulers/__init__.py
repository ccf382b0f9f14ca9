"""docs/schedulers.md: what every strategy may do, and how its schedules compare.

- `probes.py`: small models that show whether a strategy does something.
- `timed_run.py`: a run with its figures, its seconds and its share of a CPU.
- `matrix.py`: runs of models, chips and strategies, kept one by one.
- `samples.py`: runs of every sample, and their tables.
- `page.py`: the page.
"""
