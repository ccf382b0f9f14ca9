"""docs/paper-rows.json -> the paper's numbers beside ours, as rows for figures and sentences.

- `data.py`: the file as frozen values: configurations, steps, what moves them. Its reader refuses
  a file of another form.
- `comparisons.py`: one published number beside ours; the tables and series that have them; filters.
- `ladder.py`: the steps of one configuration, and the run in Explore behind a number.
- `movers.py`: assumptions, options, models and chips that move a number, largest effect first.
- `sentences.py`: headline, what is not reproduced, marks, and reasons in words.

`python -m benchmarks.paper.app_rows` writes the file from docs/paper.json.
"""
