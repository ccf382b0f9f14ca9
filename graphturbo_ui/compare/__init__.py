"""The parts of the page Compare: pure functions from runs to pictures and rows, and their widgets.

- `adding.py`: runs that one click adds: A and B, the ladder, other chips and strategies.
- `plan_rows.py`: a plan file to the run of that plan on its own model and chip.
- `again.py`: rows of another version of the library, computed again by a click.
- `collecting.py`: wanted runs to finished ones, with progress.
- `scales.py`: time and bytes of runs on one scale per column.
- `picture.py`: small multiples, one row per run.
- `waterfall.py`: the ladder gb, lb, order, full, best beside the paper's.
- `run_table.py`: rows of the table.
- `head.py`: the sentence above the picture.
- `parts.py`: the page's widgets: toolbar, table, actions, files.
- `equal_run.py`: the run that gives a ratio at equal cluster batches, computed beside.
- `pair.py`: one or two ticked runs: names, notes, Explore, what differs.
- `plan_diff.py`: the plans of two ticked runs over one graph.
- `turning.py`, `turn.js`: to Explore with the session.
- `compare.css`: style of all.
"""
