"""Learn on Explore's model and chip: steps 1, 2, 4 and 8 computed for the bar's choices.

- `texts.py`: questions and controls of a step, with answers to choose from.
- `traffic_step.py`, `cut_step.py`, `order_step.py`, `limit_step.py`: what each step draws and says.
- `runs.py`: the runs that a step needs, and their wait.
- `step.py`: the step for the bar's choices: drawn, awaited, or why it does not fit.
"""
