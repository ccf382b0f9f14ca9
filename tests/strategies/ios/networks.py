"""Networks of IOS's table as edges between numbered ops, from their published architectures.

A convolution with its normalisation and activation is one op. So is a pooling, a concatenation and
an addition. A tensor is the op that makes it; None is the network's input.
"""

from __future__ import annotations

Tensor = int | None


class Drawing:
    """A graph that grows op by op."""

    def __init__(self) -> None:
        self.edges: list[tuple[int, int]] = []
        self.n = 0

    def op(self, *read: Tensor) -> int:
        self.edges += [(producer, self.n) for producer in read if producer is not None]
        self.n += 1
        return self.n - 1

    def chain(self, tensor: Tensor, ops: int) -> Tensor:
        for _ in range(ops):
            tensor = self.op(tensor)
        return tensor

    def branches(self, tensor: Tensor, *ops: int) -> int:
        """Chains from one tensor, and the concatenation of their results."""
        return self.op(*[self.chain(tensor, count) for count in ops])


def inception_stem(net: Drawing, image: Tensor) -> Tensor:
    """Conv2d_1a, 2a, 2b, maxpool1, Conv2d_3b, 4a, maxpool2."""
    return net.chain(image, 7)


def inception_a(net: Drawing, tensor: Tensor) -> Tensor:
    """1x1; 5x5_1, 5x5_2; 3x3dbl_1 to 3; average pooling, its convolution."""
    return net.branches(tensor, 1, 2, 3, 2)


def inception_b(net: Drawing, tensor: Tensor) -> Tensor:
    """3x3; 3x3dbl_1 to 3; maximum pooling."""
    return net.branches(tensor, 1, 3, 1)


def inception_c(net: Drawing, tensor: Tensor) -> Tensor:
    """1x1; 7x7_1 to 3; 7x7dbl_1 to 5; average pooling, its convolution."""
    return net.branches(tensor, 1, 3, 5, 2)


def inception_d(net: Drawing, tensor: Tensor) -> Tensor:
    """3x3_1, 3x3_2; 7x7x3_1 to 4; maximum pooling."""
    return net.branches(tensor, 2, 4, 1)


def inception_e(net: Drawing, tensor: Tensor) -> Tensor:
    """1x1; 3x3_1, then 2a and 2b; 3x3dbl_1, 2, then 3a and 3b; average pooling, its convolution.

    torchvision concatenates 2a with 2b and 3a with 3b first; here the outer concatenation does it.
    """
    plain = net.op(tensor)
    middle = net.op(tensor)
    halves = [net.op(middle), net.op(middle)]
    double = net.chain(tensor, 2)
    double_halves = [net.op(double), net.op(double)]
    return net.op(plain, *halves, *double_halves, net.chain(tensor, 2))


def inception_v3() -> Drawing:
    """With its global pooling; the table leaves the classifier behind it out."""
    net = Drawing()
    tensor = inception_stem(net, None)
    a, b, c, d, e = inception_a, inception_b, inception_c, inception_d, inception_e
    for block in (a, a, a, b, c, c, c, c, d, e, e):
        tensor = block(net, tensor)
    net.op(tensor)
    return net


def complex_fire(net: Drawing, tensor: Tensor) -> Tensor:
    """Squeeze; expand 1x1 and 3x3; concatenation; convolution of the bypass; addition."""
    squeezed = net.op(tensor)
    expanded = net.op(net.op(squeezed), net.op(squeezed))
    return net.op(expanded, net.op(tensor))


def simple_fire(net: Drawing, tensor: Tensor) -> Tensor:
    """A fire module whose input is added to its result as it is."""
    squeezed = net.op(tensor)
    return net.op(net.op(net.op(squeezed), net.op(squeezed)), tensor)


EXPANDED = (64, 64, 128, 128, 192, 192, 256, 256)
"""Channels of both expand convolutions of fire2 to fire9."""
POOLED = (128 * 2, 256 * 2)
"""A pooling follows the first fire module with that many channels: fire4 and fire8."""


def squeezenet() -> Drawing:
    """Version 1.0 with complex bypass: a convolution where the number of channels changes."""
    net = Drawing()
    tensor, channels = net.chain(None, 2), 96
    for expanded in EXPANDED:
        is_changed = channels != 2 * expanded
        tensor = (complex_fire if is_changed else simple_fire)(net, tensor)
        channels = 2 * expanded
        if is_changed and channels in POOLED:
            tensor = net.op(tensor)
    net.chain(tensor, 2)
    return net
