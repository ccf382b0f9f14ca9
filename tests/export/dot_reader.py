"""DOT text -> pydot's graph, for tests that look at what is in a file."""

from __future__ import annotations

import warnings

import pydot


def parsed(text: str) -> pydot.Dot:
    with warnings.catch_warnings():
        # pydot's parser, which the tests alone use, calls pyparsing by names of the past.
        warnings.simplefilter("ignore", DeprecationWarning)
        graphs = pydot.graph_from_dot_data(text)
    assert graphs is not None
    (graph,) = graphs
    return graph
