"""All strategies on one model and chip, side by side.

- `kernel_picture.py`: a Report to its kernels on the rectangle of layers and samples.
- `time_words.py`: who is the fastest and why, from the critical path of each run.
- `rewrite_searches.py`: the strategies that are compared, and those of them that rewrite.
- `kept_abilities.py`: what each strategy may do, as `python -m benchmarks.schedulers` found it.
- `kept_schedules.py`: the runs that it keeps, of three models on five chips.
"""
