"""Digests of what small samples come to: moves and renames of code must leave them as they are.

`python -m tests.frozen` compares all, `--write` writes them to digests.json.
"""
