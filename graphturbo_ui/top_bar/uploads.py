"""Files given as model or chip: which are taken, and what they are called in the boxes."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain, count
from pathlib import PurePath

from graphturbo_core.errors import ModelError, ProfileError
from graphturbo_core.frontend.importer import read_input_dims
from graphturbo_core.hardware.profile import parse_profile
from graphturbo_ui.session.state import short_name
from graphturbo_ui.text import safe_text

NO_MODEL = frozenset({"EMPTY_FILE", "NOT_ONNX", "TEXT_FILE"})
"""Refusals of bytes that are no model, whatever their name says."""
MODELS = "choose a binary ONNX file, NAME.onnx; its weights may be missing"
PROFILES = "choose a profile in YAML, NAME.yaml or NAME.yml"


def check_model(data: bytes, name: str) -> None:
    """Refuse a file that is no ONNX model.

    Raises:
        ModelError: NOT_ONNX for another kind of file or bytes that are no model; others of a model.
    """
    if PurePath(name).suffix.lower() != ".onnx":
        raise _not_onnx(name, "the name does not end in .onnx")
    try:
        read_input_dims(data)
    except ModelError as error:
        if error.code not in NO_MODEL:
            raise
        raise _not_onnx(name, error.where or error.what, error.code) from error


def _not_onnx(name: str, why: str, code: str = "NOT_ONNX") -> ModelError:
    what = f"this is not an ONNX model: {safe_text(name, max_length=80)}"
    return ModelError(code, what, why, MODELS)


def check_profile(data: bytes, name: str) -> None:
    """Refuse a file that is no chip profile.

    Raises:
        ProfileError: PROFILE_NOT_YAML for another kind of file; others of a profile.
    """
    if PurePath(name).suffix.lower() not in (".yaml", ".yml"):
        what = f"this is not a chip profile: {safe_text(name, max_length=80)}"
        where = "the name ends neither in .yaml nor in .yml"
        raise ProfileError("PROFILE_NOT_YAML", what, where, PROFILES)
    parse_profile(data, name)


def box_names(labels: Sequence[str]) -> dict[str, str]:
    """What a box calls each label: uploads by their files' names, no two by the same text.

    The second file of a name is `net.onnx (2)`.
    """
    found: dict[str, str] = {}
    taken: set[str] = set()
    for label in dict.fromkeys(labels):
        name = safe_text(short_name(label))
        numbered = (f"{name} ({number})" for number in count(2))
        found[label] = next(text for text in chain([name], numbered) if text not in taken)
        taken.add(found[label])
    return found
