"""Level `plus`: the plan with the fewest simulated cycles, also beyond the paper.

- `plus.py`: makes `:full`, then the proposals of each ingredient. An ingredient is a field of
  `Ingredients` with its `--set` option; `:full` wins ties.
- `least_cycles.py`, `weight_bytes.py`: a bound from weights and products alone. A proposal whose
  bound exceeds the best plan is not lowered.
- `cuts.py`, `piece_work.py`: groups by layers and split to a Plan; work of the pieces in closed
  form.
- `fewer_pieces.py`: `plus.pieces`: fewer pieces, where refetched weights cost more cycles than LB
  overflow. Then all other groups get the next lower count too.
- `variants.py`: `plus.merging`: fewest pieces first in Eq. 1, and half the capacity in Algorithm 1.
- `second_axis.py`, `section_cycles.py`: `plus.axes`: pieces along two axes, of a group and up to
  four neighbours merged. Used where pieces have halos, the axis is exhausted, or no axis fits.
- `crossover.py`: `plus.mixing`: crossover of groupings: per segment of layers the grouping that was
  fastest there. The sum is an estimate, so the result is simulated; then a second crossover runs.
- `gb_retention.py`: `plus.keeping`: GB retention of weights (`Plan.stays`).
- `cooperating.py`, `runs.py`: `plus.cooperation`: runs of layers on one cluster or split over all,
  by dynamic programming over closed forms, for two prices of a split.

Fewer pieces and second axes are skipped where the estimated gain is below 1 % of the cycles.

GB retention: a weight is resident in GB until its last reader. Then weights are prefetched in
earlier kernels' idle DRAM cycles, the nearest first. Kernels limited by their cores get none.
Retentions whose kernels became longer are removed, and the plan is simulated again.

`plus.lending` (in `plus.py`) reads weights through idle clusters' DRAM shares, one share per DMA
engine at a time. Each cluster's DRAM has all weights. Cooperation and remote DRAM shares apply to
one sample on several clusters, on chips with `chip.remote_dram_latency_cycles` (`stcp920`). Batches
of two or more below the number of clusters, and branches on different clusters, are not supported.
"""
