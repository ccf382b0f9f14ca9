"""A plan as a file: recorded, restored, edited; and what an edit asks of a strategy."""
