"""The command line: `main` runs one command, `app` has them all."""

from graphturbo_core.cli.commands import app, main

__all__ = ["app", "main"]
