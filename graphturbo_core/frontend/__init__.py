"""ONNX bytes -> Graph with static shapes, or a refusal that names op and tensor.

- `catalogue.py`: MODEL on the command line: a path, a sample, or a light model of onnx.
- `options.py`: choices at import: batch, dimensions, skipped passes.
- `importer.py`: the recipe. `parse/` reads a Draft, `shapes/` types it, `passes/` cleans it up.
- `branches.py`: an If with a known condition becomes the branch that it takes.
- `numbers.py`: model bytes with a number for every weight, and seeded inputs for the replay.
- `strip.py`: model bytes without weights: small enough to upload.

Files are read from memory; import never opens a file that a model names. Weights that the file
leaves out are drawn from a seed by name, and so are inputs.
"""
