"""Runs in a worker process, over frames of plain bytes, never a pickle.

- `protocol.py`: the frames: job, step, done, refusal, bug.
- `worker.py`: the worker process: warms up, then turns jobs into report bytes.
- `process.py`: the parent's view of a worker: its pipe, its end, and why a run failed.
- `client.py`: runs for the command line, as reports or one error.

A job is a comparison: model bytes, chip bytes, and its runs. The worker imports the model once
(`rounds.Imports`) and answers run by run, each frame with the run's number. A refusal or a bug ends
only that run. The worker limits its memory. The app's side of a job is `graphturbo_ui/jobs.py`.
"""
