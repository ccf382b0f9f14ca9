"""Plan -> Program: kernels become instructions with addresses and sequence numbers.

- `lower.py`: the recipe: from fine tiles to coarse ones until the cap on instructions is met.
- `box_bytes.py`: bytes of many boxes, vectorised.
- `caps.py`: lower bound on a plan's instructions; too long programs are refused early.
- `chip_numbering.py`: cluster-parallel plans: each cluster is lowered alone, then its cores,
  engines and channels get the chip's numbers.
- `alternatives.py`: other placements of a kernel at `:full`: stages by expected begin, half of the
  staging buffer. The shortest kernel is taken; other kernels are not affected.
- `placing.py`: kernels one after the other get tiles and LB addresses; each passes on what it keeps
  in LB.
- `placing_far.py`: all kernels, then GB and DRAM; once more if GB has no room for some tensors.
- `known.py`: the kernels that lowerings of one model share.
- `numbering.py`: one kernel per template is emitted and scheduled; the others are copies.
- `branches.py`: branches of a kernel are lowered as kernels, and their instructions merged.
- `assemble.py`: kernels one after the other: global numbers, buffers, segments.
- `notes.py`: where a Program differs from its plan, in words.

A kernel passes `stages/` (loop nests, shares), `tiling/`, `local_buffer/` (LB addresses, with
`addresses/`), `global_buffer/` (GB and DRAM), `emission/` (instructions), and `instructions/`
(conflicts, order).

Above the cap these follow: larger tiles, one tile per share, wider weight tiles with less of K,
then equivalent cores simulated once. Each is attempted first with the finest tiles for kernels of
few computes. `--max-instructions` allows up to 4,000,000; a program of 2.3 million takes 4.6 GB, so
the app does not offer it. A result without the option is the same with it. A refusal reports the
least number of instructions needed.

Templates are shared between plans: levels, trials of a strategy, runs of a comparison. Up to
100,000 instructions of them are cached. Chips that differ in bandwidths only share emitted code:
cycles are computed and the kernel is scheduled again. A refusal has the same numbers with and
without the cache.

Without a GB, weights go from DRAM to all LBs in one broadcast. There is no GB port and no system
DMA.
"""
