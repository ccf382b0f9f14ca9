"""`python -m benchmarks.readers [--readers N] [--joined]`: a model with N readers of one value.

Each reader is a separate output, or one Concat reads all; each run has a process of its own. Prints
processor seconds to the Trace and to the report, with `--verify` including the replay. With a tile
per core the number of instructions decides: some 15 us each.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from itertools import product
from multiprocessing import get_context
from time import process_time

from onnx import TensorProto, helper

from graphturbo_core.errors import CapacityError
from graphturbo_core.pipeline import RunRequest, run_report, warm_up

STRATEGIES = ("tvm", "graphturbo")
PROFILES = ("stcp920", "generic-4x4")
SHAPES = ((1, 2), (1, 8, 4, 4))
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
    context = get_context("spawn")
    for shape, profile, strategy in product(SHAPES, PROFILES, STRATEGIES):
        data = model_of(options.readers, shape, is_joined=options.joined)
        what = strategy, profile, options.verify
        with ProcessPoolExecutor(1, mp_context=context) as pool:
            timed = pool.submit(_timed, data, what).result()
        print(f"{strategy} on {profile}, {'x'.join(map(str, shape))}: {timed}", flush=True)
    return 0


def _timed(data: bytes, what: tuple[str, str, bool]) -> str:
    """Times of one run, or its refusal; `what`: strategy, profile, and whether it is replayed."""
    warm_up()
    strategy, profile, is_verified = what
    request = RunRequest("readers", strategy, profile, verify=is_verified)
    ended: dict[str, float] = {}
    began = process_time()
    try:
        contract = run_report(
            data, request, on_step=lambda name, _: ended.update({name: process_time() - began})
        ).contract
    except CapacityError as refused:
        return f"{refused.code} after {process_time() - began:.1f} s"
    total, instructions = process_time() - began, f"{contract['instructions']:,} instructions"
    return f"{ended['simulate']:.1f} s to the trace, {total:.1f} s to the report, {instructions}"


if __name__ == "__main__":
    sys.exit(main())
