"""What the server runs: once before the first visitor, and for each visitor's session.

- `startup.py`: imports what pages need, starts the workers and the default comparison.
- `help_pages.py`: the documentation site under `/help`, from the folder `site`.
- `script.py`: a session: page config and navigation. Worker processes import it again.
"""
