"""`KEY=V1,V2`: what may be varied, and how values are read."""

from __future__ import annotations

import pytest

from graphturbo_core.errors import OptionError
from graphturbo_core.hardware.profile import read_profile
from graphturbo_core.hardware.variation import varied_profile
from graphturbo_core.sweep.axes import MOST_RUNS, Axis, axes_of, check_size

CHIP = "generic-4x4"


def test_keys_of_the_chip_and_of_the_run() -> None:
    found = axes_of(
        ["cluster.gb_bytes=1048576, 2097152", "batch=8", "core.matrix_rate.int8=1,2.5"], CHIP
    )
    assert found == (
        Axis("cluster.gb_bytes", (1048576, 2097152)),
        Axis("batch", (8,)),
        Axis("core.matrix_rate.int8", (1, 2.5)),
    )


def test_words_are_read_as_in_a_profile() -> None:
    (found,) = axes_of(["core.matrix_model=passes,1e3,-2,true"], CHIP)
    assert found.values == ("passes", 1000.0, -2, True)


@pytest.mark.parametrize(
    ("texts", "code", "words"),
    [
        (["cluster.gb=1"], "UNKNOWN_KEY", "cluster.gb_bytes"),
        (["cluster=1"], "UNKNOWN_KEY", "no key of this profile"),
        (["cluster.gb_bytes"], "BAD_VARY", "KEY=V1,V2"),
        (["cluster.gb_bytes="], "BAD_VARY", "KEY=V1,V2"),
        (["=3"], "BAD_VARY", "KEY=V1,V2"),
        (["batch=8,8"], "GIVEN_TWICE", "a value twice"),
        (["batch=8", "batch=16"], "GIVEN_TWICE", "varied twice"),
        (["batch=0"], "BAD_VARY", "whole numbers from 1"),
        (["cluster_batch=2.5"], "BAD_VARY", "whole numbers from 1"),
        (["batch=true"], "BAD_VARY", "whole numbers from 1"),
        (["batch+cluster_batch=2.5"], "BAD_VARY", "whole numbers from 1"),
        (["core.lb_data_bytes+core.none=1"], "UNKNOWN_KEY", "core.none"),
        (["core.lb_data_bytes+batch=1", "batch=2"], "GIVEN_TWICE", "varied twice"),
    ],
)
def test_refusals(texts: list[str], code: str, words: str) -> None:
    with pytest.raises(OptionError) as refused:
        axes_of(texts, CHIP)
    assert refused.value.code == code
    assert words in str(refused.value)


def test_the_number_of_runs_is_capped() -> None:
    half = Axis("batch", tuple(range(1, MOST_RUNS // 2 + 1)))
    check_size([half], 2)
    with pytest.raises(OptionError, match=f"more than {MOST_RUNS}"):
        check_size([half], 3)


def test_several_numbers_of_a_chip_change_and_no_other() -> None:
    data = varied_profile(CHIP, {"cluster.gb_bytes": 4096, "chip.clusters": 2})
    plain, varied = read_profile(CHIP), read_profile("varied", data)
    assert (varied.gb_bytes, varied.clusters) == (4096, 2)
    assert varied.lb_data_bytes == plain.lb_data_bytes
