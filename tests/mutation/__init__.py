"""Small mistakes put into the source one at a time, by seed, to see whether the tests notice.

`python -m tests.mutation` draws and runs them (hours), keeps docs/mutation.json and writes
docs/mutation.md; `--check` says whether what is kept is still about the source as it stands.
"""
