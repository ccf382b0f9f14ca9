"""What the first screen draws: two runs over the same layers, as numbers and short texts.

The screen shows A and B as two ways to cut one rectangle of layers and samples. All that it draws
is derived here from two reports, so that a test can compare what is drawn with what was computed.

- `blocks.py`: stretches of layers that can be shut, where a model has too many for a row each.
- `group_names.py`: names of sub-graphs in words, and keys like `g4` in texts replaced by them.
- `hues.py`: the colour number of each layer and of each sub-graph of B.
- `shares.py`: a run's time divided among colours.
- `shared_layers.py`: parts of the sub-graphs that share a layer.
- `lens.py`: the stretch of time that is magnified first, and the prefetch that is pointed out.
- `axis_names.py`: names of the axes that sub-graphs are split along.
- `headline.py`: the sentence above all, and the figures beside it.
- `buffer.py`: all of this as one buffer for the page.
"""
