"""What a kernel has in LB at which address, and what streams through it."""
