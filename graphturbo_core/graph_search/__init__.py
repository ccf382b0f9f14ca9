"""A graph, a strategy that chooses among equivalent graphs -> the fastest graph that was found.

- `search.py`: `search_graphs`: substitutions one after another, the cheapest graph first. `ios` has
  a search of its own (`GraphChoice`).
- `chosen_graph.py`: cost of a graph on a chip; the request with the steps of the fastest one.

`frontend/passes/substitutions.py` has the rules and sets of convolutions. The strategy makes the
plan of every graph.
"""
