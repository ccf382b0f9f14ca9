"""The batch over clusters and rounds."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphturbo_core.errors import OptionError
from graphturbo_core.strategies.steps.batching import Share, divide_batch


def test_even_shares_in_equal_rounds() -> None:
    # 64 over 4 clusters: 16 each; two at a time: 8 rounds of 2.
    assert divide_batch(64, 4, 2).shares == (Share(4, ((2, 8),)),)
    assert divide_batch(64, 4, 16).shares == (Share(4, ((16, 1),)),)


def test_remainder_is_one_smaller_round() -> None:
    # 64 over 4 clusters: 16 each = 3 rounds of 5 and one of 1.
    division = divide_batch(64, 4, 5)
    assert division.shares == (Share(4, ((5, 3), (1, 1))),)
    assert division.round_sizes == (5, 1)


def test_uneven_shares_differ_by_one() -> None:
    # 10 over 4: two clusters take 3, two take 2. In rounds of 2: 2+1 and 2.
    division = divide_batch(10, 4, 2)
    assert division.shares == (Share(2, ((2, 1), (1, 1))), Share(2, ((2, 1),)))
    assert divide_batch(10, 4).shares == (Share(2, ((3, 1),)), Share(2, ((2, 1),)))


def test_cluster_batch_above_the_share_is_the_share() -> None:
    division = divide_batch(8, 4, 16)
    assert division.cluster_batch == 2
    assert division.shares == (Share(4, ((2, 1),)),)
    assert "16 is above the share of a cluster, 2 of 8" in division.notes[0]


def test_cluster_batch_within_the_share_needs_no_word() -> None:
    assert divide_batch(8, 4, 1).notes == divide_batch(8, 4, 2).notes == ()


def test_surplus_clusters_idle() -> None:
    division = divide_batch(3, 4)
    assert division.shares == (Share(3, ((1, 1),)),)
    assert division.idle_clusters == 1
    assert division.notes == ("1 of 4 clusters idle: the batch is 3",)


@pytest.mark.parametrize(("batch", "cluster_batch"), [(0, None), (-1, 2), (4, 0)])
def test_refusal(batch: int, cluster_batch: int | None) -> None:
    with pytest.raises(OptionError, match="give 1 or more"):
        divide_batch(batch, 4, cluster_batch)


@given(st.integers(1, 500), st.integers(1, 40), st.none() | st.integers(1, 60))
def test_every_sample_is_taken_once(batch: int, clusters: int, cluster_batch: int | None) -> None:
    division = divide_batch(batch, clusters, cluster_batch)
    assert sum(share.clusters * share.samples for share in division.shares) == batch
    assert sum(share.clusters for share in division.shares) + division.idle_clusters == clusters
    samples = [share.samples for share in division.shares]
    assert max(samples) - min(samples) <= 1
    limit = batch if cluster_batch is None else cluster_batch
    assert all(size <= limit for share in division.shares for size, _ in share.rounds)
