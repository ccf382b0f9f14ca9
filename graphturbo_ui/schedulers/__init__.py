"""The page Schedulers: every strategy on the bar's model and chip, side by side.

- `collecting.py`: the runs, a few at a time, with progress and a way out.
- `columns.py`: kernels of all strategies on one axis of layers.
- `below.py`: why each is slower than the fastest, and what each may do.
- `kept_table.py`: kept runs of three models on five chips.
"""
