"""Any number of finished runs side by side, kept in a file.

- `figures.py`: what a comparison keeps of a run: numbers of the contract, time by part of the
  model, groups by layers.
- `from_report.py`: a Report, or the JSON of a saved one, to those figures.
- `compared_run.py`: a run of a comparison: choices, figures, name, note.
- `comparison_file.py`: `compare.json`, read and written.
- `settings.py`: runs that share model, chip, batch and number format.
- `equal_batches.py`: the ratio of two runs at equal cluster batches.
- `grouping.py`: layers that two runs group differently.
- `layer_plans.py`: what a run's plan decides of each layer.
- `plan_changes.py`: what differs in each layer between two plans of one model.
- `plan_picture.py`: the plan diff as bytes for the page.
- `sentences.py`: what differs between two runs, in words.
- `published.py`: throughputs of the paper's figure, by model.
- `ladder.py`: the steps gb, lb, order, full and best with the gain of each.
"""
