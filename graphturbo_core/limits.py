"""Limits: maximum sizes of inputs; larger ones are refused by name."""

from __future__ import annotations

from dataclasses import dataclass, replace


@dataclass(frozen=True, slots=True)
class Limits:
    """Upper bounds of accepted inputs; all are our choice, above every model we know of."""

    max_model_bytes: int = 2**30
    """Bytes of a model file. VGG-16 with weights has 528 MiB; protobuf's limit is 2 GiB."""
    max_strip_bytes: int = 2**31 - 1
    """Bytes of a model file whose weights are left out: protobuf's limit."""
    max_profile_bytes: int = 64 * 2**10
    """Bytes of a hardware profile file."""
    max_plan_bytes: int = 8 * 2**20
    """Bytes of a plan file. DenseNet-121's has about 120 KiB; 8 MiB take a few seconds to read."""
    max_ops: int = 200_000
    """Nodes of a model."""
    max_tensors: int = 1_000_000
    """Named values of a model, weights included."""
    max_rank: int = 8
    """Axes of a tensor; ONNX models in use have at most 6."""
    max_elements: int = 2**36
    """Elements of a tensor: 128 GiB at two bytes each, 32 times a cluster's DRAM."""
    max_batch: int = 65_536
    """Samples of a run; the paper's largest batch is 1,024."""
    max_elements_value_propagation: int = 4096
    """Elements of a constant that import computes; of larger ones only the shape is known."""
    max_index_elements: int = 2**22
    """Elements of larger constants that a model's gathers pick by, all together: 32 MiB.
    ConvNeXt-T as PyTorch exports it computes 2,304 per sample."""
    max_pieces: int = 4_096
    """Pieces of a group: each is a kernel with its own instructions, so only the smallest models
    could simulate more. Splits into more pieces are not evaluated."""
    max_kernel_ops: int = 200_000
    """Ops of all kernels, an op counted per piece that runs it: half a minute of lowering."""
    max_instructions: int = 300_000
    """Instructions of a program; above it lowering coarsens tiles (design, section 4)."""
    max_instructions_coarsest: int = 1_200_000
    """Instructions that are still simulated if even the coarsest tiles exceed that limit."""
    max_instructions_longest: int = 4_000_000
    """Upper limit of `--max-instructions`: 2.3 million instructions took 4.6 GB of memory."""
    instructions_per_op: int = 24
    """Instructions per op to which both limits rise in a large model: coarser tiles do not help
    if each op has one tile per core already. Small ops take 11 to 18 instructions on 8 cores."""
    max_accesses: int = 4_000_000
    """Boxes that all instructions read and write; typically 2 or 3 per instruction."""
    accesses_per_op: int = 96
    """Boxes per op to which that limit rises in a large model: four per instruction."""
    max_drawn_bytes: int = 2**30
    """Bytes of random weights that a replay generates; protobuf's limit is 2 GiB."""
    max_block_ops: int = 1_000
    """Ops of a block that IOS schedules; Inception-v3's largest has 12 (block C)."""
    max_states: int = 200_000
    """States of such a block: sets of ops that have all their predecessors. Inception-v3's blocks
    have at most 180."""
    max_state_endings: int = 3_000_000
    """Endings of all its states together: ten seconds. Inception-v3 has 27,742."""
    max_name_length: int = 200
    """Characters of an op's name; longer ones are shortened, with a note."""

    def instructions(self, ops: int) -> int:
        """Number of instructions above which tiles are coarsened, for a model with `ops` ops."""
        return max(self.max_instructions, ops * self.instructions_per_op)

    def instructions_coarsest(self, ops: int) -> int:
        """Number of instructions above which the model is refused."""
        return max(self.max_instructions_coarsest, ops * self.instructions_per_op)

    def accesses(self, ops: int) -> int:
        """Number of boxes above which tiles are coarsened, or the model is refused."""
        return max(self.max_accesses, ops * self.accesses_per_op)

    def longer(self, max_instructions: int) -> Limits:
        """These limits for up to `max_instructions` instructions, with boxes in proportion."""
        accesses = self.max_accesses * max_instructions // self.max_instructions_coarsest
        return replace(self, max_instructions_coarsest=max_instructions, max_accesses=accesses)


DEFAULT_LIMITS = Limits()
