"""Learn: steps and kept results of the lecture -> what its component draws.

- `keys.py`: what the address calls the values of a control.
- `places.py`: what the pictures of steps 5 and 6 draw.
- `pictures.py`: what the picture of each step draws; the steps that have one.
- `lesson.py`: all steps as one JSON text, and which steps and values the address may name.
- `yours/`: steps on Explore's model and chip.
"""
