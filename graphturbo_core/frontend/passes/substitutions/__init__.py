"""Graph substitutions by which a search rewrites a graph: passes that get their steps as a text.

- `match.py`: Substitution: one match of a rule.
- `windows.py`: kernel and padding of a convolution, and the smallest that two can both have.
- `branches.py`: rules 1 and 2: convolutions of one input are merged, and kernels enlarged.
- `single_ops.py`: rules 3 and 4: groups of a convolution are merged; a mean pool is a convolution.
- `graph_steps.py`: all matches of a graph, and the graph after some of them.
- `convolution_sets.py`: sets of convolutions, each of which becomes one convolution.

Source: TASO (Jia et al., SOSP 2019); of the sets IOS (Ding et al., MLSys 2021). A text has indices
with dots between them; no text leaves the graph unchanged.
"""
