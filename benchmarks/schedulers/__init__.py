"""docs/schedulers.md: what every strategy may do, and how its schedules compare.

- `probes.py`: small models that show whether a strategy does something.
- `matrix.py`: runs of models, chips and strategies, kept one by one.
- `page.py`: the page.
"""
