"""Traces of all rounds -> Verification: the Program run on real numbers, against ONNX Runtime.

- `faults.py`: Fault: the first instruction that is wrong.
- `single_op.py`: one op on arrays: ONNX Runtime on a model of that op, else onnx's reference.
- `local.py`: a tile's result: the op run on exactly the boxes that the tile names.
- `verify.py`: the recipe: `static/` checks, `replay/`, comparison, and the fault.

If an output differs, the round is replayed beside its unsplit ops. The fault is the first
instruction that differs: op, box, core, cycle, expected and actual numbers.

Not checked: the order of bytes inside a buffer (values are arrays per box), and the run's number
format. Values are float32 or the model's own type; addresses and sizes are those of the format.
"""
