"""Limits: how large an input may be before it is refused by name."""

from __future__ import annotations

from dataclasses import dataclass, replace


@dataclass(frozen=True, slots=True)
class Limits:
    """Upper bounds on what is accepted; all are our choice, wide of every model we know of."""

    max_model_bytes: int = 2**30
    """A model file. VGG-16 with its weights has 528 MiB; protobuf itself ends at 2 GiB."""
    max_strip_bytes: int = 2**31 - 1
    """A model file whose weights are to be left out: as much as protobuf reads."""
    max_profile_bytes: int = 64 * 2**10
    """A hardware profile file."""
    max_plan_bytes: int = 8 * 2**20
    """A plan file; DenseNet-121's has some 120 KiB, and 8 MiB are read in a few seconds."""
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
    """Elements of a constant that import computes; larger ones keep their shape only."""
    max_pieces: int = 4_096
    """Pieces of a group: each is a kernel with instructions of its own, so more are never simulated
    but for the smallest models. Splits into more are not looked at."""
    max_kernel_ops: int = 200_000
    """Ops of all kernels, an op counted in each piece that runs it: half a minute of lowering."""
    max_instructions: int = 300_000
    """Instructions of a program; lowering coarsens tiles to stay below (design, section 4)."""
    max_instructions_coarsest: int = 1_200_000
    """Where even the coarsest tiles need more than that, up to this many are still simulated."""
    max_instructions_longest: int = 4_000_000
    """What a run may raise that to (`--max-instructions`): 2.3 million took 4.6 GB of memory."""
    instructions_per_op: int = 24
    """What both grow to in a large model: coarser tiles do not help where each op is one tile a
    core already. Small ops take 11 to 18 instructions each on eight cores."""
    max_accesses: int = 4_000_000
    """Boxes that all instructions read and write; of ordinary models one has 2 or 3."""
    accesses_per_op: int = 96
    """What that grows to in a large model: four of each instruction."""
    max_drawn_bytes: int = 2**30
    """Weights without numbers that a replay makes up; protobuf ends at 2 GiB."""
    max_name_length: int = 200
    """Characters of an op's name; longer ones are shortened, with a note."""

    def instructions(self, ops: int) -> int:
        """Above so many instructions of a model of so many ops, tiles are coarsened."""
        return max(self.max_instructions, ops * self.instructions_per_op)

    def instructions_coarsest(self, ops: int) -> int:
        """Above so many the model is refused."""
        return max(self.max_instructions_coarsest, ops * self.instructions_per_op)

    def accesses(self, ops: int) -> int:
        """Above so many boxes tiles are coarsened, or the model is refused."""
        return max(self.max_accesses, ops * self.accesses_per_op)

    def longer(self, max_instructions: int) -> Limits:
        """The same for programs of up to so many instructions, with boxes in proportion."""
        accesses = self.max_accesses * max_instructions // self.max_instructions_coarsest
        return replace(self, max_instructions_coarsest=max_instructions, max_accesses=accesses)


DEFAULT_LIMITS = Limits()
