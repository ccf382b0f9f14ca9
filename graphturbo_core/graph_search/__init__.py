"""A graph, a strategy that chooses among equivalent graphs -> the fastest graph that was found.

- `search.py`: `search_graphs`: substitutions one after another, the cheapest graph first. `ios` has
  a search of its own (`GraphChoice`).
- `round_costs.py`: cost of a graph on a chip: RoundCosts; RoundTrials for a search of its own.
- `chosen_graph.py`: `choose_graph`: the request with the steps of the fastest graph.

`frontend/passes/substitutions` has the rules and sets of convolutions. The strategy makes the
plan of every graph.
"""
