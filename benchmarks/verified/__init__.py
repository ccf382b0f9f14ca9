"""Replays of the app's default comparison and of small samples, kept with their Programs' digests.

    python -m benchmarks.verified            replay all (minutes), write docs/verified.json
    python -m benchmarks.verified --check    replay the smallest, compute the others' digests
    python -m benchmarks.verified --show     the kept replays as a table

- `replays.py`: the comparisons, and what is kept of their replays.
- `__main__.py`: the command.
"""
