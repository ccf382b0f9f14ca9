"""The paper's ten configurations: run, compared with what is published, written as a page.

`python -m benchmarks.paper` (`command.py`) writes docs/paper.md and docs/paper.json.

- `rows.py`: the ten configurations and the models that stand for them.
- `results.py`: runs to numbers; `findings.py` stores them in docs/paper.json.
- `tables.py`, `stages.py`, `gains.py`: tables of the page.
- `breakdown.py`, `switches.py`, `vendor.py`: options one at a time, assumptions on TVM's kernels,
  the vendor's own schedule.
- `requirements.py`, `reasons.py`: requirements on the ten rows, and reasons for differences.
- `page.py`: the page; `app_rows.py`: the rows of the app's page, docs/paper-rows.json. Tests
  rebuild both from the stored rows.
"""
