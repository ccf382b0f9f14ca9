"""GraphTurbo Explorer's library: an ONNX model in, a simulated schedule out.

In: model bytes, a chip profile and a `RunRequest`. Out: a Report.

- `errors.py`, `units.py`, `limits.py`: refusals with a code, numbers as text, input limits.
- `compiled.py`: hot loops as machine code (numba).
- `plain_yaml.py`: YAML without aliases and tags.
- `option_fields.py`: dataclass fields as `--set` options.
- `run_request.py`: all choices of one run, checked.
- `recorder.py`: `Recorder.run` times and checks each step.
- `rounds.py`: the imported model shared by the runs of a comparison, and the batch divided into
  rounds.
- `graph_search/`: equivalent graphs compared, for a strategy that chooses one.
- `best_rounds.py`: several cluster batches compared, for a strategy that chooses one.
- `trial_cache.py`: costs of plans, for strategies that evaluate several. A plan that an earlier run
  simulated is not simulated again. The chosen plan's Program and Trace are the cached ones.
- `plan_io.py`: the plan file that a run follows, and the files that it writes.
- `pipeline.py`: the recipe, import to report.
- `register.py`: the assumption register: every assumed number halved and doubled, every choice
  replaced, and run again.

ARCHITECTURE.md has the steps and the packages. `tests/test_layers.py` enforces the direction of
imports. Only `cli` prints.
"""

__version__ = "0.1.0"
"""Equal to the version in pyproject.toml; a test compares both."""
