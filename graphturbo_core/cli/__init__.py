"""The command line: `main` runs one command, `app` has them all.

- `options.py`: options of the commands, their types and texts.
- `commands.py`: run, compare, diff, strip, models, profiles, strategies.
- `job.py`: choices to Reports, with progress on stderr.
- `output.py`: output of a command: tables, JSON and files.
- `register_text.py`: tables of `run --assumptions`.
"""

from graphturbo_core.cli.commands import app, main

__all__ = ["app", "main"]
