"""Outcome -> Report: all that leaves the library.

- `outcome.py`: Outcome: every distinct round simulated, and how often it occurs.
- `contract.py`: the contract's JSON of `run --json`.
- `report.py`: Report: plain rows, named arrays, the contract. Its docstring lists all tables.
- `build.py`: the recipe: Outcome to Report.
- `json_form.py`: a Report's JSON: the contract and the tables behind the app.
- `edit_choices.py`: what can be edited at one sub-graph.

`rows/` makes tables and arrays, `bounds/` lower bounds, `canvases/` bytes for canvases, `verdict/`
sentences. Data for pictures are left out where none are shown (`RunRequest.has_pictures`).
"""
