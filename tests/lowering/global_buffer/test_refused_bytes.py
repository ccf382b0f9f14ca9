"""Refusals of bytes without room: in units, and whether another batch could help."""

from __future__ import annotations

import pytest

from graphturbo_core.errors import CapacityError
from graphturbo_core.frontend.catalogue import load_sample
from graphturbo_core.hardware.variation import varied_profile
from graphturbo_core.pipeline import RunRequest, run_report
from graphturbo_core.remote.protocol import decode_error, encode_error, split_frame

KIB = 1024


def refused(key: str, value: int, batch: int = 8) -> CapacityError:
    """The refusal of the smallest sample on a chip with one number changed."""
    profile = varied_profile("generic-4x4", {key: value})
    request = RunRequest("teaching-resnet", "tvm", "generic-4x4", batch)
    with pytest.raises(CapacityError) as caught:
        run_report(load_sample("teaching-resnet"), request, profile)
    return caught.value


def test_an_activation_needs_a_smaller_batch() -> None:
    """The weights have 84 KiB; 16 images of 32 x 32 x 16 numbers of two bytes per cluster 512."""
    error = refused("cluster.dram_bytes", 512 * KIB, batch=64)
    assert error.code == "DRAM_FULL"
    assert error.what == "tensor 'stem/relu:0' of 512 KiB does not fit"
    assert error.where.endswith(": 512 KiB")
    assert error.change == "choose a smaller batch"
    assert error.fields == {"at_any_batch": False}


def test_a_weight_beside_activations_needs_one_too() -> None:
    error = refused("cluster.dram_bytes", 128 * KIB, batch=64)
    assert error.what == "tensor 'stage2/block1/conv2/weight' of 18 KiB does not fit"
    assert error.change == "choose a smaller batch"
    assert error.fields == {"at_any_batch": False}


@pytest.mark.parametrize("batch", [1, 64])
def test_weights_that_exceed_dram_do_so_at_any_batch(batch: int) -> None:
    error = refused("cluster.dram_bytes", 64 * KIB, batch)
    assert error.code == "DRAM_FULL"
    assert error.what.startswith("all weights have 84 KiB, so '")
    assert error.change == "choose a chip with more DRAM"
    assert error.fields == {"at_any_batch": True}


def test_slots_of_weights_are_the_same_at_any_batch() -> None:
    error = refused("cluster.gb_bytes", 4 * KIB)
    assert error.code == "GB_FULL"
    assert error.what == "2 weight tiles need 36.1 KiB"  # two of 32 x 32 x 3 x 3 with a bias
    assert error.where.endswith(" has 4 KiB")
    assert error.fields == {"at_any_batch": True}


@pytest.mark.parametrize("fields", [{}, {"at_any_batch": False}, {"at_any_batch": True}])
def test_a_worker_passes_it_on(fields: dict[str, bool]) -> None:
    _, _, body = split_frame(encode_error(0, CapacityError("FULL", "a", "b", "c", **fields)))
    assert bool(decode_error(body).fields.get("at_any_batch")) == (fields == {"at_any_batch": True})
