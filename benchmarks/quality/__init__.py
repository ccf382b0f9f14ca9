"""How near to the lower bound each strategy's schedules come, on models and chips.

    python -m benchmarks.quality [--only MODEL|CHIP ...]   run what docs/quality.json lacks
    python -m benchmarks.quality --closed-forms            run what docs/closed-forms.json lacks
    python -m benchmarks.quality --others                  run what docs/quality-others.json lacks
    python -m benchmarks.quality --afresh                  run all of it again: hours
    python -m benchmarks.quality --page                    write the page and its picture alone
    python -m benchmarks.quality --check                   do both show what is kept?

A run is kept as soon as it ends, so an interrupted benchmark goes on where it was. Times depend on
the machine; the page has ratios of times alone.

- `matrix.py`: models, chips and strategies, their runs, and what is kept of them.
- `kept_runs.py`: a file of runs by key, and tasks in processes; schedulers use it too.
- `closed_forms.py`: closed forms beside simulated cycles, per sub-graph of the samples.
- `other_models.py`: other values of the search's constants, on models not looked at for them.
- `choices.py`: the page's paragraphs on what was chosen after results were seen.
- `page.py`: the page and its picture.
"""
