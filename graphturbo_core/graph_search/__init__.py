"""A graph, a strategy that chooses among equivalent graphs -> the fastest graph that was found.

- `changed_segments.py`: ChangedSegment: kernels that a substitution changes, before and after it.
- `segment_costs.py`: SegmentCosts: simulated cycles of changed segments, equal ones once.
- `search.py`: `reached_graphs`: substitutions one after another, the cheapest graph first;
  `whole_graphs`: the few that are simulated as a whole.
- `round_costs.py`: cost of a graph on a chip: RoundCosts; RoundTrials for a search of its own.
- `fastest_graph.py`: GraphSearch: the steps to the fastest graph, within a budget.
- `chosen_graph.py`: `choose_graph`: the request with the steps of the fastest graph. `ios` has a
  search of its own (`GraphChoice`).

`frontend/passes/substitutions` has the rules and sets of convolutions. The strategy makes the
plan of every graph and of every segment.
"""
