"""Graph -> Graph: the clean-up passes, each of which can be skipped by name.

- `clean_up.py`: the ordered list. `--skip-pass` takes its names.
- `structural.py`: passes without arithmetic: constants, dead ops, identities, casts.
- `batch_norm.py`: folds batch normalisation into a contraction, else makes one scale and shift.
- `quantised.py`: a layer between dequantise and quantise becomes one op on 8-bit numbers.
- `dynamic_product.py`: a product with dynamic quantisation becomes two ops.
- `unroll.py`: RNN, GRU and LSTM per time step: one product of the whole sequence, and per step one
  of the state. `steps.py` names the ops, `cells.py` has the arithmetic of one step.
- `rescale.py`, `per_sample.py`: `rescale-batch`: a model with a fixed batch for another batch, and
  constants with one row per sample.
- `decompose.py`: layer norm and softmax as reductions and elementwise ops. `horizontal.py`:
  convolutions of one input and shape as one, with rewritten weights. `substitutions/`: changes that
  a search chooses, one by one or in sets. They run after all others, if a strategy requires them
  (`Strategy.import_passes`).
- `rewrite.py`, `parts.py`: building blocks: a changed graph, ops that replace one op.

A part of a decomposed op has its origin (`Op.origin`), and the new graph has the graph before
(`Graph.undecomposed`).
"""
