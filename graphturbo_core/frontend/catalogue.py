"""MODEL of the command line: a path, one of our samples, or a light model of onnx."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from pathlib import Path

import onnx

from graphturbo_core.errors import ModelError
from graphturbo_core.frontend.parse.parsing import too_large
from graphturbo_core.limits import DEFAULT_LIMITS, Limits

_SAMPLE_FOLDER = Path(__file__).resolve().parents[2] / "sample_models"
_LIGHT_FOLDER = Path("backend", "test", "data", "light")
_LIGHT_PREFIX = "light_"
_SAMPLE_ORDER = (
    "resnet50-slim", "resnet50-v1", "resnet50-v15", "mobilenet-v2", "densenet-121",
    "densenet-169", "densenet-201", "bert-base", "bert-large", "vit-b16", "vit-l16", "dlrm",
    "dlrm-random", "dlrm-rm1", "dlrm-rm2", "dlrm-rm3", "conformer", "conformer-s", "conformer-l",
    "llama", "teaching-resnet", "learn-net", "learn-net-wide",
)  # fmt: skip
_NEAR_NAMES = 3


def sample_names() -> tuple[str, ...]:
    """Names of all samples: ours (the app's first one first), then the onnx package's."""
    return tuple(_sample_files())


def load_sample(name: str) -> bytes:
    """The bytes of a sample.

    Raises:
        ModelError: UNKNOWN_MODEL, with near names.
    """
    files = _sample_files()
    if name not in files:
        raise _unknown(name, tuple(files))
    return files[name].read_bytes()


def read_model(path_or_name: str, limits: Limits = DEFAULT_LIMITS) -> tuple[str, bytes]:
    """Returns name and bytes of MODEL; a sample has precedence over a file (write `./name`).

    Raises:
        ModelError: UNKNOWN_MODEL; TOO_LARGE before anything is read; UNREADABLE.
    """
    files = _sample_files()
    if path_or_name in files:
        return path_or_name, files[path_or_name].read_bytes()
    path = Path(path_or_name)
    try:
        if not path.exists():
            raise _unknown(path_or_name, tuple(files))
        if not path.is_file():
            raise _unreadable(path_or_name, "it is not a file")
        if path.stat().st_size > limits.max_model_bytes:
            raise too_large(path.stat().st_size, limits)
        return path.stem, path.read_bytes()
    except (OSError, ValueError) as error:
        raise _unreadable(path_or_name, str(error)) from error


def _sample_files() -> Mapping[str, Path]:
    ours = {path.stem: path for path in sorted(_SAMPLE_FOLDER.glob("*.onnx"))}
    first = {name: ours[name] for name in _SAMPLE_ORDER if name in ours}
    folder = Path(onnx.__file__).parent / _LIGHT_FOLDER
    light = {
        f"light-{path.stem.removeprefix(_LIGHT_PREFIX)}": path
        for path in sorted(folder.glob("*.onnx"))
    }
    return {**first, **ours, **light}


def _unknown(name: str, known: tuple[str, ...]) -> ModelError:
    near = difflib.get_close_matches(name, known, _NEAR_NAMES, 0.4)
    return ModelError(
        "UNKNOWN_MODEL",
        f"{name!r} is neither a file nor a sample",
        f"near names: {', '.join(near)}" if near else "",
        "give a path to an .onnx file, or one of the samples that `models` lists",
    )


def _unreadable(name: str, reason: str) -> ModelError:
    return ModelError(
        "UNREADABLE", f"{name!r} cannot be read", reason, "give a path to a readable .onnx file"
    )
