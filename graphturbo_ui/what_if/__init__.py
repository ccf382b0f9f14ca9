"""What-if: runs on changed chips and batches, and what they show.

- `points.py`: what is varied and by which strategies -> runs of points, each with its chip.
- `point_desk.py`: these runs on the workers, a few at a time; their figures are kept.
- `metrics.py`: figures of a point that can be drawn, with their units.
- `controls.py`: the boxes above the pictures.
- `curve.py`, `heat_map.py`, `gain_bars.py`, `buffer_sizes.py`: rows -> pictures.
- `words.py`: rows -> the sentence above a picture.
- `answers.py`: the picture of each question, from the points that are known.
- `below.py`: progress above it; below it the point picked, the table, and the command.
"""
