"""`python -m benchmarks.readers [--readers N]`: a model whose one value has so many readers.

Each reader is an output of its own, so that nothing joins them. Processor seconds, import to
report, without verification; with `--verify` the replay as well.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from time import process_time

from onnx import TensorProto, helper

from graphturbo_core.pipeline import RunRequest, run_report, warm_up

STRATEGIES = ("tvm", "graphturbo")
PROFILE = "generic-4x4"
SHAPE = (1, 8, 4, 4)
FUNCTIONS = ("Sigmoid", "Tanh")


def model_of(readers: int) -> bytes:
    """A Relu, and sigmoids and tanhs of it in turn."""
    names = [f"y{number}" for number in range(readers)]
    nodes = [helper.make_node("Relu", ["x"], ["a"])]
    nodes += [
        helper.make_node(FUNCTIONS[number % len(FUNCTIONS)], ["a"], [name])
        for number, name in enumerate(names)
    ]
    results = [helper.make_tensor_value_info(name, TensorProto.FLOAT, SHAPE) for name in names]
    given = [helper.make_tensor_value_info("x", TensorProto.FLOAT, SHAPE)]
    graph = helper.make_graph(nodes, "readers", given, results)
    opset = helper.make_opsetid("", 17)
    return bytes(helper.make_model(graph, opset_imports=[opset], ir_version=9).SerializeToString())


def main(arguments: Sequence[str] | None = None) -> int:
    """Run both strategies and print a line each."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--readers", type=int, default=10_000)
    parser.add_argument("--verify", action="store_true")
    options = parser.parse_args(arguments)
    data = model_of(options.readers)
    warm_up()
    for strategy in STRATEGIES:
        began = process_time()
        request = RunRequest("readers", strategy, PROFILE, verify=options.verify)
        report = run_report(data, request)
        total = process_time() - began
        print(f"{strategy}: {total:.1f} s, {report.contract['instructions']:,} instructions")
    return 0


if __name__ == "__main__":
    sys.exit(main())
