"""ONNX bytes -> Graph with static shapes, or a refusal with op and tensor.

- `catalogue.py`: MODEL on the command line: a path, a sample, or a light model of onnx.
- `options.py`: choices at import: batch, dimensions, skipped passes.
- `importer.py`: the recipe. `parse/` reads a Draft, `shapes/` types it, `passes/` cleans it up.
- `branches.py`: an If with a known condition is replaced by the chosen branch.
- `numbers.py`: model bytes with numbers for every weight, and seeded inputs for the replay.
- `strip.py`: model bytes without weights: small enough to upload.

Files are read from memory; import never opens a file that a model names. Weights missing from the
file are drawn from a seed by name, and so are inputs.
"""
