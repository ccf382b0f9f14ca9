"""MODEL on the command line: samples, paths, refusals."""

from __future__ import annotations

from pathlib import Path

import pytest

from graphturbo_core.errors import ModelError
from graphturbo_core.frontend.catalogue import load_sample, read_model, sample_names
from graphturbo_core.limits import Limits


def test_the_default_sample_comes_first_and_all_are_there() -> None:
    names = sample_names()
    assert names[0] == "resnet50-slim"
    assert {"resnet50-v1", "resnet50-v15", "mobilenet-v2", "densenet-121", "teaching-resnet"} < set(
        names
    )
    assert {"light-resnet50", "light-densenet121"} < set(names)


def test_a_path_gives_its_stem(tmp_path: Path) -> None:
    path = tmp_path / "own.onnx"
    path.write_bytes(b"abc")
    assert read_model(str(path), Limits()) == ("own", b"abc")
    assert read_model("teaching-resnet", Limits()) == (
        "teaching-resnet", load_sample("teaching-resnet"),
    )  # fmt: skip


def test_unknown_names_list_near_ones() -> None:
    with pytest.raises(ModelError, match="resnet50-slim") as caught:
        read_model("resnet50-slin", Limits())
    assert caught.value.code == "UNKNOWN_MODEL"
    with pytest.raises(ModelError, match="neither a file nor a sample"):
        load_sample("zzz")


@pytest.mark.parametrize("name", [".", "a\0b", "x" * 5000])
def test_strange_paths_are_refused(name: str) -> None:
    with pytest.raises(ModelError) as caught:
        read_model(name, Limits())
    assert caught.value.code in ("UNKNOWN_MODEL", "UNREADABLE")


def test_a_large_file_is_refused_before_it_is_read(tmp_path: Path) -> None:
    path = tmp_path / "large.onnx"
    with path.open("wb") as file:
        file.truncate(2**40)
    with pytest.raises(ModelError, match="1099511627776") as caught:
        read_model(str(path), Limits())
    assert caught.value.code == "TOO_LARGE"
