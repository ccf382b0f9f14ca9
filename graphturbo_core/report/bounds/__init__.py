"""GraphSemantics, chip -> lower bounds of the latency; no schedule is faster.

- `places.py`: places along an output axis to places along an input axis.
- `reshaped.py`: places through a reshape, exact if they are few.
- `regions.py`: Region: the part of a tensor that outputs need.
- `need.py`: what the outputs need, element by element.
- `engine_bounds.py`: fewest cycles of each kind of engine, with the proof.
- `bound_steps.py`: what separates the latency from the bound of model and chip.
- `bounds.py`: bounds of model and chip, of the plan's shares, and of the program.
"""
