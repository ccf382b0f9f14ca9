"""Printed pages of the lecture, from the same steps and results.

- `drawing.py`: bars, lines and intervals as SVG.
- `end_states.py`: the last picture of each step.
- `sheet.py`: an HTML page of A4 sheets.
- `handout.py`: the eight end states on one sheet.
- `exercises.py`, `worksheet.py`: nine exercises, with answers on a sheet of their own.
- `lesson.py`: a plan of the lesson, minute by minute.
"""
