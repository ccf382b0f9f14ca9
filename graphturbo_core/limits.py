"""Limits: largest accepted inputs; beyond them the run is refused by name."""

from __future__ import annotations

from dataclasses import dataclass, replace


@dataclass(frozen=True, slots=True)
class Limits:
    """Upper bounds on accepted inputs; all are our choice, above every model that we know."""

    max_model_bytes: int = 2**30
    """Bytes of a model file. VGG-16 with its weights has 528 MiB; protobuf's limit is 2 GiB."""
    max_strip_bytes: int = 2**31 - 1
    """Bytes of a model file to be stored without weights: protobuf's limit."""
    max_profile_bytes: int = 64 * 2**10
    """Bytes of a hardware profile file."""
    max_plan_bytes: int = 8 * 2**20
    """Bytes of a plan file; DenseNet-121's has some 120 KiB, and 8 MiB are read in seconds."""
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
    """Elements of a constant that import computes; a larger one has only its shape."""
    max_pieces: int = 4_096
    """Pieces of a group. Each is a kernel with its own instructions, so only the smallest models
    could be simulated with more. Splits into more pieces are not evaluated."""
    max_kernel_ops: int = 200_000
    """Ops of all kernels, an op counted in each piece that runs it: half a minute of lowering."""
    max_instructions: int = 300_000
    """Instructions of a program above which lowering coarsens tiles (design, section 4)."""
    max_instructions_coarsest: int = 1_200_000
    """Instructions of a program with the coarsest tiles; a longer one is refused."""
    max_instructions_longest: int = 4_000_000
    """Largest value of `--max-instructions`: 2.3 million instructions use 4.6 GB of memory."""
    instructions_per_op: int = 24
    """Instructions per op that both caps allow in a large model. Coarser tiles do not help where
    each op is one tile per core. Small ops need 11 to 18 instructions each on eight cores."""
    max_accesses: int = 4_000_000
    """Boxes that all instructions read and write; ordinary models have 2 or 3 per instruction."""
    accesses_per_op: int = 96
    """Boxes per op that the cap allows in a large model: four per instruction."""
    max_drawn_bytes: int = 2**30
    """Bytes of random weights that a replay adds to a model; protobuf's limit is 2 GiB."""
    max_name_length: int = 200
    """Characters of an op's name; longer ones are shortened, with a note."""

    def instructions(self, ops: int) -> int:
        """Instructions above which tiles of a model of `ops` ops are coarsened."""
        return max(self.max_instructions, ops * self.instructions_per_op)

    def instructions_coarsest(self, ops: int) -> int:
        """Instructions above which a model of `ops` ops is refused."""
        return max(self.max_instructions_coarsest, ops * self.instructions_per_op)

    def accesses(self, ops: int) -> int:
        """Boxes above which tiles are coarsened, or the model is refused."""
        return max(self.max_accesses, ops * self.accesses_per_op)

    def longer(self, max_instructions: int) -> Limits:
        """These limits with a cap of `max_instructions`, and boxes in proportion."""
        accesses = self.max_accesses * max_instructions // self.max_instructions_coarsest
        return replace(self, max_instructions_coarsest=max_instructions, max_accesses=accesses)


DEFAULT_LIMITS = Limits()
