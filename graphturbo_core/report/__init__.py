"""Outcome -> Report: the library's only result for callers.

- `outcome.py`: Outcome: every distinct simulated round, and how often it occurs.
- `tables.py`: Tables: the rows of every table, each row type beside the function that makes it.
- `contract.py`: Contract: the JSON of `run --json`.
- `report.py`: Report: tables, named arrays, the contract. Its docstring lists all columns.
- `build.py`: the recipe: Outcome to Report.
- `json_form.py`: a Report's JSON: the contract and the tables behind the app.
- `edit_choices.py`: what can be edited at one sub-graph.
- `part_words.py`: sub-graphs and parts of edits in words.
- `sample_noun.py`: what one sample of the model is called.

`rows/` makes tables and arrays, `bounds/` lower bounds, `canvases/` bytes for canvases, `verdict/`
sentences, `overview/` the first screen, `algorithms/` the pictures of Algorithms 1 to 4. `paper/`
has the published numbers beside ours, `measured/` measured times beside simulated ones, `chips/`
chips without a run. Data for pictures are left out where none are shown
(`RunRequest.has_pictures`).
"""
