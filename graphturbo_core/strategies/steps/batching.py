"""Batch, clusters, cluster batch -> Division: the rounds of each cluster."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

from graphturbo_core.errors import OptionError


@dataclass(frozen=True, slots=True)
class Share:
    """Clusters with equal rounds: (samples per round, count) pairs, largest first."""

    clusters: int
    rounds: tuple[tuple[int, int], ...]

    @property
    def samples(self) -> int:
        """Samples of one such cluster."""
        return sum(size * count for size, count in self.rounds)


@dataclass(frozen=True)
class Division:
    """Division of the batch over the clusters: largest share first, idle clusters not listed.

    `together`: number of clusters that share the work listed for one cluster. `is_divided`: samples
    may be computed separately.
    """

    batch: int
    clusters: int
    cluster_batch: int
    shares: tuple[Share, ...]
    notes: tuple[str, ...] = ()
    together: int = 1
    is_divided: bool = True

    @cached_property
    def round_sizes(self) -> tuple[int, ...]:
        """The distinct round sizes, largest first; each needs one plan."""
        sizes = {size for share in self.shares for size, _ in share.rounds}
        return tuple(sorted(sizes, reverse=True))

    @property
    def idle_clusters(self) -> int:
        """Clusters without any sample."""
        return self.clusters - self.together * sum(share.clusters for share in self.shares)

    @property
    def clusters_a_round(self) -> int:
        """Number of clusters that may share a round: all if there is one sample, else one.

        Our choice: with two samples on four clusters, two clusters would share each sample, and the
        rounds of different clusters would not be equivalent.
        """
        return self.clusters if self.batch == 1 and self.is_divided else 1

    def shared(self, clusters: int) -> Division:
        """This division with the one round shared by `clusters` clusters."""
        idle = _idle_note(self.idle_clusters, self.clusters, self.batch)
        others = tuple(note for note in self.notes if note != idle)
        note = f"{clusters} clusters share the one sample: the others would be idle"
        return replace(self, notes=(*others, note), together=clusters)


def _idle_note(idle: int, clusters: int, batch: int) -> str:
    return f"{idle} of {clusters} clusters idle: the batch is {batch}"


def divide_batch(batch: int, clusters: int, cluster_batch: int | None = None) -> Division:
    """Returns shares that differ by at most one, each in equal rounds and a smaller remainder.

    Without a cluster batch, a cluster computes its whole share in one round (design, section 4).

    Raises:
        OptionError: the batch or the cluster batch is below one.
    """
    _check_positive("batch", batch)
    _check_positive("cluster batch", 1 if cluster_batch is None else cluster_batch)
    small, more = divmod(batch, clusters)
    counts = {small + 1: more, small: clusters - more}
    sizes = [size for size, count in counts.items() if size > 0 and count > 0]
    largest = sizes[0]
    taken = largest if cluster_batch is None else min(cluster_batch, largest)
    notes = []
    if cluster_batch is not None and cluster_batch > largest:
        notes.append(
            f"a cluster batch of {cluster_batch} is above the share of a cluster, {largest} of "
            f"{batch} samples: the share runs in one round"
        )
    if small == 0:
        notes.append(_idle_note(clusters - more, clusters, batch))
    shares = tuple(Share(counts[size], _rounds(size, taken)) for size in sizes)
    return Division(batch, clusters, taken, shares, tuple(notes))


def undivided(batch: int, clusters: int, why: str) -> Division:
    """One round of all samples on one cluster: samples may depend on each other."""
    share = Share(1, ((batch, 1),))
    note = f"the batch of {batch} is not divided, one cluster runs it in one round: {why}"
    return Division(batch, clusters, batch, (share,), (note,), is_divided=False)


def _check_positive(what: str, number: int) -> None:
    if number < 1:
        raise OptionError("BAD_BATCH", f"{what} is {number}", change="give 1 or more")


def _rounds(samples: int, cluster_batch: int) -> tuple[tuple[int, int], ...]:
    times, rest = divmod(samples, cluster_batch)
    rounds = ((cluster_batch, times), (rest, 1))
    return tuple((size, count) for size, count in rounds if size and count)
