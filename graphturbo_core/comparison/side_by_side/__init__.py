"""All strategies on one model and chip, side by side.

- `kernel_picture.py`: a Report to its kernels on the rectangle of layers and samples.
- `time_words.py`: who is the fastest and why, from the critical path of each run.
- `kept_abilities.py`: what each strategy may do, as `python -m benchmarks.schedulers` found it.
"""
