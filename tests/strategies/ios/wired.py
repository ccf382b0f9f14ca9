"""Networks with branches as ONNX files: SqueezeNet with complex bypass, and random-wired ones."""

from __future__ import annotations

import networkx as nx

from tests.models import model_bytes

FIRES = ((16, 64), (16, 64), (32, 128), (32, 128), (48, 192), (48, 192), (64, 256), (64, 256))
"""Squeezed and expanded channels of SqueezeNet's fire modules."""
POOLED_AFTER = (2, 6)
"""Fire modules, counted from 0, behind which a pooling halves the map."""
WIDTH, NODES = 32, 12


class NetworkText:
    """Lines of ONNX's text form; weights are constants, since only shapes count."""

    def __init__(self) -> None:
        """Start with an image of 64 x 64 of three channels."""
        self.lines: list[str] = []
        self.channels = {"image": 3}

    def conv(self, source: str, channels: int, kernel: int = 1, stride: int = 1) -> str:
        """A convolution with its activation; kernels of 3 are padded."""
        name = f"c{len(self.lines)}"
        shape = f"{{{channels},{self.channels[source]},{kernel},{kernel}}}"
        self.lines.append(f"""{name}s = Constant <value = int64[4] {shape}> ()
            {name}w = ConstantOfShape <value = float[1] {{0.01}}> ({name}s)
            {name}r = Conv <pads = [{", ".join([str(kernel // 2)] * 4)}],
                strides = [{stride}, {stride}]> ({source}, {name}w)
            {name} = Relu ({name}r)""")
        self.channels[name] = channels
        return name

    def call(self, op: str, *sources: str, channels: int) -> str:
        """Another op."""
        name = f"o{len(self.lines)}"
        self.lines.append(f"{name} = {op} ({', '.join(sources)})")
        self.channels[name] = channels
        return name

    def model(self, last: str) -> bytes:
        """The network, with a global pooling at its end."""
        body = "\n".join([*self.lines, f"y = GlobalAveragePool ({last})"])
        text = f"g (float[N,3,64,64] image) => (float[N,{self.channels[last]},1,1] y) {{ {body} }}"
        return model_bytes(text)


def squeezenet() -> bytes:
    """SqueezeNet 1.0 whose bypasses are convolutions where the number of channels changes."""
    net = NetworkText()
    pool = "MaxPool <kernel_shape = [3,3], strides = [2,2]>"
    last = net.call(pool, net.conv("image", 96, 3, 2), channels=96)
    for number, (squeezed, expanded) in enumerate(FIRES):
        inner = net.conv(last, squeezed)
        parts = [net.conv(inner, expanded), net.conv(inner, expanded, 3)]
        both = net.call("Concat <axis = 1>", *parts, channels=2 * expanded)
        bypass = last if net.channels[last] == 2 * expanded else net.conv(last, 2 * expanded)
        last = net.call("Add", both, bypass, channels=2 * expanded)
        if number in POOLED_AFTER:
            last = net.call(pool, last, channels=2 * expanded)
    return net.model(last)


def random_wired(seed: int) -> bytes:
    """A small-world graph of convolutions, each of the sum of what leads to it.

    Source: "Exploring Randomly Wired Neural Networks", Xie et al., ICCV 2019: WS(4, 0.75).
    """
    net = NetworkText()
    graph = nx.connected_watts_strogatz_graph(NODES, 4, 0.75, seed=seed)
    stem = net.conv("image", WIDTH, 3, 2)
    made: list[str] = []
    for node in range(NODES):
        sources = [made[other] for other in sorted(graph[node]) if other < node] or [stem]
        total = sources[0]
        for other in sources[1:]:
            total = net.call("Add", total, other, channels=WIDTH)
        made.append(net.conv(total, WIDTH, 3))
    ends = [made[n] for n in range(NODES) if all(other < n for other in graph[n])]
    last = ends[0]
    for other in ends[1:]:
        last = net.call("Add", last, other, channels=WIDTH)
    return net.model(last)
