"""The lecture of the page Learn: its runs, their kept results, and eight steps of text.

- `runs.py`: the runs by name; each differs from `graphturbo` on `learn-1x4` in a few choices.
- `pictured.py`, `measured.py`: Report -> the numbers of one run.
- `compute.py`: all runs through the pipeline; `python -m benchmarks.lecture` writes results.json.
- `results.py`: results.json as frozen values; pages read nothing else.
- `facts.py`: the numbers that sentences name, as text.
- `step.py`: what a step consists of. `texts/`: the eight, with fields in place of numbers.
- `steps.py`: the eight with the kept numbers.
- `links.py`: two runs as a link into Explore, with the files that they need.
- `yours/`: numbers of steps 1, 2 and 4 of reports on another model and chip.
- `printed/`: handout, worksheet and plan of the lesson, from the same steps.
"""
