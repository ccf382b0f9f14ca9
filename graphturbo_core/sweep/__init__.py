"""One model over ranges of a chip's numbers, of the batch and of strategies -> a table.

- `axes.py`: what is varied, read from `KEY=V1,V2`.
- `knobs.py`: numbers that can be varied by name, and values around a chip's own.
- `typed_values.py`: values of such a number that somebody typed, with its unit.
- `tasks.py`: a run per point and strategy, as bytes that a process can be sent.
- `points.py`: runs of tasks in local processes; finished ones are kept in a folder.
- `cluster.py`: the same on a Dask cluster.
- `table.py`: rows as CSV and JSON.
- `findings.py`: what rows show: knees, cliffs, winners, smallest buffers.
"""
