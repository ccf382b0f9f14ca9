"""Live bytes per step of a growing sub-graph, and their peak."""

from __future__ import annotations

MIN_STEPS = 64


class LiveBytes:
    """Live bytes per step, stored as changes from step to step, with their peak.

    A tree over the steps stores in every node the sum of its changes and the largest prefix sum.
    A change costs O(log steps).
    """

    def __init__(self) -> None:
        """No steps, nothing live."""
        self._size = MIN_STEPS
        self._sum = [0] * (2 * MIN_STEPS)
        self._best = [0] * (2 * MIN_STEPS)

    @property
    def peak_bytes(self) -> int:
        """The largest of all steps, 0 where nothing is live."""
        return max(0, self._best[1])

    def change(self, step: int, size_bytes: int) -> None:
        """Add `size_bytes` (may be negative) to all steps from `step` on."""
        while step >= self._size:
            self._double()
        sums, best = self._sum, self._best
        node = step + self._size
        sums[node] += size_bytes
        best[node] = sums[node]
        while node > 1:
            node //= 2
            left = 2 * node
            sums[node] += size_bytes
            here, beyond = best[left], sums[left] + best[left + 1]
            best[node] = here if here > beyond else beyond

    def _double(self) -> None:
        leaves = self._sum[self._size :]
        self._size *= 2
        self._sum = [0] * self._size + leaves + [0] * len(leaves)
        self._best = list(self._sum)
        for node in range(self._size - 1, 0, -1):
            left, right = 2 * node, 2 * node + 1
            self._sum[node] = self._sum[left] + self._sum[right]
            self._best[node] = max(self._best[left], self._sum[left] + self._best[right])
