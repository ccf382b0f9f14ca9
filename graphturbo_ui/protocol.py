"""What passes between the server and a worker process: frames of plain bytes, never a pickle.

A frame is one tag byte and a body. To the worker: `R` (a run: header length, JSON header, model,
profile). From it: `W` (warm and ready), `S` (a step that finished, JSON), `D` (done: a report's
bytes), `E` (a refusal, JSON), `B` (a bug of ours: its traceback, for the log).
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import fields

from graphturbo_core import errors
from graphturbo_core.errors import GraphTurboError
from graphturbo_core.pipeline import RunRequest

MAX_REPORT_BYTES = 512 * 2**20
"""A larger answer from a worker is refused unread."""
RUN, WARM, STEP, DONE, ERROR, BUG = b"R", b"W", b"S", b"D", b"E", b"B"
ERROR_CLASSES = {
    kind.__name__: kind
    for kind in (
        errors.ModelError,
        errors.ProfileError,
        errors.OptionError,
        errors.CapacityError,
        errors.InvariantError,
    )
}


def encode_run(request: RunRequest, model: bytes, profile: bytes | None) -> bytes:
    """One run as a frame; `profile` None means the shipped one of that name."""
    sizes = {"model_bytes": len(model), "has_profile": profile is not None}
    header = json.dumps({"request": request_fields(request), **sizes}).encode()
    return RUN + len(header).to_bytes(4, "little") + header + model + (profile or b"")


def request_fields(request: RunRequest) -> dict[str, object]:
    """A request as JSON holds it."""
    values = {field.name: getattr(request, field.name) for field in fields(request)}
    return {
        name: dict(value) if isinstance(value, Mapping) else value for name, value in values.items()
    }


def decode_run(frame: bytes) -> tuple[RunRequest, bytes, bytes | None]:
    """What `encode_run` wrote."""
    start = 5 + int.from_bytes(frame[1:5], "little")
    header = json.loads(frame[5:start])
    end = start + header["model_bytes"]
    values = header["request"] | {"skip_passes": tuple(header["request"]["skip_passes"])}
    return RunRequest(**values), frame[start:end], frame[end:] if header["has_profile"] else None


def encode_error(error: GraphTurboError) -> bytes:
    """A refusal as a frame: its class, code and words."""
    words = {
        "class": type(error).__name__,
        "code": error.code,
        "what": error.what,
        "where": error.where,
        "change": error.change,
    }
    return ERROR + json.dumps(words).encode()


def decode_error(body: bytes) -> GraphTurboError:
    """The refusal in the body of an `E` frame."""
    words = json.loads(body)
    kind = ERROR_CLASSES.get(words["class"], GraphTurboError)
    return kind(words["code"], words["what"], words["where"], words["change"])


def encode_step(name: str, seconds: float) -> bytes:
    """A finished step as a frame."""
    return STEP + json.dumps([name, seconds]).encode()


def decode_step(body: bytes) -> tuple[str, float]:
    """Name and seconds in the body of an `S` frame."""
    name, seconds = json.loads(body)
    return str(name), float(seconds)
