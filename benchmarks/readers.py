"""`python -m benchmarks.readers [--readers N] [--joined]`: a model with N readers of one value.

Each reader is a separate output, or one Concat reads all. Prints clock seconds from import to
Trace and processor seconds to the report, with `--verify` including the replay. With a tile per
core the number of instructions decides: some 30 us each.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from itertools import product
from time import process_time

from onnx import TensorProto, helper

from graphturbo_core.errors import CapacityError
from graphturbo_core.pipeline import RunRequest, run_report, warm_up

STRATEGIES = ("tvm", "graphturbo")
PROFILES = ("stcp920", "generic-4x4")
SHAPES = ((1, 2), (1, 8, 4, 4))
TO_TRACE = ("import", "divide the batch", "plan", "lower", "simulate")
FUNCTIONS = ("Sigmoid", "Tanh")


def model_of(readers: int, shape: tuple[int, ...], *, is_joined: bool = False) -> bytes:
    """Model of a Relu that is read by alternating sigmoids and tanhs, which a Concat may join."""
    names = [f"y{number}" for number in range(readers)]
    nodes = [helper.make_node("Relu", ["x"], ["a"])]
    nodes += [
        helper.make_node(FUNCTIONS[number % len(FUNCTIONS)], ["a"], [name])
        for number, name in enumerate(names)
    ]
    if is_joined:
        nodes.append(helper.make_node("Concat", names, ["y"], axis=1))
        names, shape_out = ["y"], (shape[0], readers * shape[1], *shape[2:])
    else:
        shape_out = shape
    results = [helper.make_tensor_value_info(name, TensorProto.FLOAT, shape_out) for name in names]
    given = [helper.make_tensor_value_info("x", TensorProto.FLOAT, shape)]
    graph = helper.make_graph(nodes, "readers", given, results)
    opset = helper.make_opsetid("", 17)
    return bytes(helper.make_model(graph, opset_imports=[opset], ir_version=9).SerializeToString())


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs both strategies on each chip and shape, and prints one line per run."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--readers", type=int, default=10_000)
    parser.add_argument("--joined", action="store_true")
    parser.add_argument("--verify", action="store_true")
    options = parser.parse_args(arguments)
    warm_up()
    for shape, profile, strategy in product(SHAPES, PROFILES, STRATEGIES):
        data = model_of(options.readers, shape, is_joined=options.joined)
        began = process_time()
        request = RunRequest("readers", strategy, profile, verify=options.verify)
        run = f"{strategy} on {profile}, {'x'.join(map(str, shape))}"
        try:
            contract = run_report(data, request).contract
        except CapacityError as refused:
            print(f"{run}: {refused.code} after {process_time() - began:.1f} s")
            continue
        total = process_time() - began
        steps = {step["name"]: step["seconds"] for step in contract["steps"]}
        to_trace = sum(steps[name] for name in TO_TRACE)
        print(
            f"{run}: {to_trace:.1f} s to the trace, {total:.1f} s to the report, "
            f"{contract['instructions']:,} instructions"
        )
    return 0


if __name__ == "__main__":
    sys.exit(main())
