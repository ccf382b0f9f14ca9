"""The command line: `main` runs one command, `app` has them all.

- `options.py`: options of the commands, their types and texts.
- `commands.py`: run, compare, sweep, diff, strip, models, profiles, strategies.
- `conditions.py`: figures of runs that end a script.
- `job.py`: choices to Reports, with progress on stderr.
- `kept_runs.py`: runs of `compare --save` and `--from`.
- `listings.py`: rows of models, profiles and strategies.
- `output.py`: what a command prints and writes. `sweep_output.py`: the table of `sweep`.
- `stripping.py`: `strip`.
- `register_text.py`: tables of `run --assumptions`. `measured_text.py`: those of `run --measured`.
"""

from graphturbo_core.cli.commands import app, main

__all__ = ["app", "main"]
