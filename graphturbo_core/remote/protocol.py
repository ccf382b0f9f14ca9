"""Frames between the server and a worker process: plain bytes, never a pickle.

A frame is one tag byte and a body. To the worker: `J` (a job: header length, JSON header with the
requests of its runs, model, profile). From the worker: `W` (warm and ready), and frames of one run
with its number in the job (from 0) between tag and body: `S` (a finished step, JSON), `P` (what
the run is at, JSON), `D` (done: a
report's bytes), `E` (a refusal, JSON), `B` (a bug of ours: its traceback, for the log).
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import astuple, fields

from graphturbo_core import errors
from graphturbo_core.errors import GraphTurboError
from graphturbo_core.pipeline import RunRequest
from graphturbo_core.recorder import Progress

MAX_REPORT_BYTES = 512 * 2**20
"""Largest frame from a worker; a larger one is refused unread."""
JOB, WARM, STEP, PROGRESS = b"J", b"W", b"S", b"P"
DONE, ERROR, BUG = b"D", b"E", b"B"
NUMBER_BYTES = 2
"""Width of a run's number: a job of more than 65,536 runs is our bug."""
ERROR_CLASSES = {
    kind.__name__: kind
    for kind in (
        errors.ModelError,
        errors.ProfileError,
        errors.OptionError,
        errors.PlanError,
        errors.CapacityError,
        errors.InvariantError,
    )
}


def encode_job(requests: Sequence[RunRequest], model: bytes, profile: bytes | None) -> bytes:
    """Frame of a job; `profile` None: the shipped profile with the request's name."""
    sizes = {"model_bytes": len(model), "has_profile": profile is not None}
    runs = [request_fields(request) for request in requests]
    header = json.dumps({"requests": runs, **sizes}).encode()
    return JOB + len(header).to_bytes(4, "little") + header + model + (profile or b"")


def request_fields(request: RunRequest) -> dict[str, object]:
    """A request's fields as JSON values."""
    values = {field.name: getattr(request, field.name) for field in fields(request)}
    return {
        name: dict(value) if isinstance(value, Mapping) else value for name, value in values.items()
    }


def decode_job(frame: bytes) -> tuple[tuple[RunRequest, ...], bytes, bytes | None]:
    """Requests, model and profile of a frame from `encode_job`."""
    start = 5 + int.from_bytes(frame[1:5], "little")
    header = json.loads(frame[5:start])
    end = start + header["model_bytes"]
    requests = tuple(
        RunRequest(**values | {key: tuple(values[key]) for key in ("skip_passes", "emit")})
        for values in header["requests"]
    )
    return requests, frame[start:end], frame[end:] if header["has_profile"] else None


def encode_frame(tag: bytes, number: int, body: bytes) -> bytes:
    """Frame of the run with this number."""
    return tag + number.to_bytes(NUMBER_BYTES, "little") + body


def split_frame(frame: bytes) -> tuple[bytes, int, bytes]:
    """Tag, number of the run and body of a worker's frame; 0 and empty where it has none."""
    end = 1 + NUMBER_BYTES
    return frame[:1], int.from_bytes(frame[1:end], "little"), frame[end:]


def encode_error(number: int, error: GraphTurboError) -> bytes:
    """Frame of a run's refusal: its class, code, texts, and whether another batch could help."""
    words = {
        "class": type(error).__name__,
        "code": error.code,
        "what": error.what,
        "where": error.where,
        "change": error.change,
        "at_any_batch": bool(error.fields.get("at_any_batch")),
    }
    return encode_frame(ERROR, number, json.dumps(words).encode())


def decode_error(body: bytes) -> GraphTurboError:
    """The refusal in the body of an `E` frame."""
    words = json.loads(body)
    kind = ERROR_CLASSES.get(words["class"], GraphTurboError)
    texts = (words["code"], words["what"], words["where"], words["change"])
    return kind(*texts, at_any_batch=True) if words["at_any_batch"] else kind(*texts)


def encode_step(number: int, name: str, seconds: float) -> bytes:
    """Frame of a run's finished step."""
    return encode_frame(STEP, number, json.dumps([name, seconds]).encode())


def decode_step(body: bytes) -> tuple[str, float]:
    """Name and seconds in the body of an `S` frame."""
    name, seconds = json.loads(body)
    return str(name), float(seconds)


def encode_progress(number: int, progress: Progress) -> bytes:
    """Frame of what a run is at."""
    return encode_frame(PROGRESS, number, json.dumps(astuple(progress)).encode())


def decode_progress(body: bytes) -> Progress:
    """What is in the body of a `P` frame."""
    return Progress(*json.loads(body))
