"""The page Verification: what replays of A and B found, on one scale.

- `found.py`: a report's own replay, or the kept one of its Program.
- `cards.py`: the sentence above, and a card per run, as HTML.
"""
