"""GraphTurbo Explorer's pages: they see reports, never a graph, plan, program or trace."""
