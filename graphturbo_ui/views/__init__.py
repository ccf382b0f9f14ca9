"""Views of Explore: one file each, drawn from the runs at hand.

- `overview.py`: the first screen. `below.py`: the views below it that are chosen.
- `verdict.py`: why B wins or loses, in figures.
- `groupings.py`, `edit_plan.py`: the graph with both runs' sub-graphs; plans edited from it.
- `memory.py`: LB and GB per layer, over time, and by address.
- `gantt.py`: instructions on engines over time.
- `time.py`: roofline, stalls, bytes by cause, each layer's share.
- `passes.py`: Algorithms 1 to 4 as pictures; every step from model to trace in a table.
- `export.py`, `sharing.py`: files of the runs; the HTML file.
"""
