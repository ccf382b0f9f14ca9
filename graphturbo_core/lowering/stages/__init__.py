"""KernelPlan -> stages: its loop nests in order, and which core does what of each."""
