"""Runs beside A and B that the first screen shows a figure of.

- `equal_run.py`: A's strategy at B's cluster batch.
- `what_helps.py`: B on a chip with more of what binds it.
- `searched_run.py`: a searched schedule, the third row of the race.
"""
