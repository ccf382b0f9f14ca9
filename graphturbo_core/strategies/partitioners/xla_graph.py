"""XlaFusion: the fusions of a graph as a graph, and what lies on the paths between two of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field


@dataclass
class XlaFusion:
    """A kernel that grows: `root` is the op that names it; `roots`: ops whose results leave.

    `operands` and `readers`: fusions that it reads, and that read it. `reread`: ops whose elements
    are needed more than once per element of a root.
    """

    root: str
    ops: set[str]
    roots: set[str]
    operands: set[str] = field(default_factory=set)
    readers: set[str] = field(default_factory=set)
    reread: set[str] = field(default_factory=set)


def reaches(fusions: Mapping[str, XlaFusion], first: str, last: str) -> bool:
    """Whether `last` is read through another fusion from `first`."""
    stack = [each for each in fusions[first].readers if each != last]
    seen = set(stack)
    while stack:
        for reader in fusions[stack.pop()].readers:
            if reader == last:
                return True
            if reader not in seen:
                seen.add(reader)
                stack.append(reader)
    return False


def fuses_on_all_paths(
    fusions: Mapping[str, XlaFusion],
    producer: str,
    place: Mapping[str, int],
    is_fusible: Callable[[str, str], bool],
) -> bool:
    """Whether every step of every path from a producer to its readers can be fused.

    A reader that also needs the producer through a third fusion ends several paths. `place`: of
    the ops in the graph; a fusion is named by its last op, so paths have rising places. Linear in
    the fusions between the producer and its last reader.
    """
    between = _reached(fusions, producer, place)
    stack = list(fusions[producer].readers)
    seen = set(stack)
    while stack:
        reader = stack.pop()
        for operand in sorted(fusions[reader].operands & between, key=place.__getitem__):
            if not is_fusible(operand, reader):
                return False
            if operand != producer and operand not in seen:
                seen.add(operand)
                stack.append(operand)
    return True


def _reached(fusions: Mapping[str, XlaFusion], producer: str, place: Mapping[str, int]) -> set[str]:
    """A producer, and the fusions that need it and stand before its last reader."""
    last = max(place[reader] for reader in fusions[producer].readers)
    stack, found = [producer], {producer}
    while stack:
        for reader in fusions[stack.pop()].readers:
            if reader not in found and place[reader] < last:
                found.add(reader)
                stack.append(reader)
    return found
