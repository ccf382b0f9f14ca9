"""`python -m graphturbo_core`: the command line."""

from graphturbo_core.cli import main

if __name__ == "__main__":
    raise SystemExit(main())
