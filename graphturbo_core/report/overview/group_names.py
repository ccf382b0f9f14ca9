"""Reports -> the name of each sub-graph in words: as the first screen has it, on every panel.

Names like `g4` are for plan files; `in_words` replaces them in texts.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import pairwise

from graphturbo_core.report.overview.hues import hues_of, layers_of_groups, titles_of_groups
from graphturbo_core.report.report import Report

KEY = re.compile(r"(?<![\w/'.-])g\d+(?:/\d+)?(?![\w/'-]|\.\w)")
"""A sub-graph's key, or that of one of its kernels: `g4`, `g4/1`; not a part of another name."""


def names_of_groups(*reports: Report) -> list[list[str]]:
    """Names of the sub-graphs of each run; the last run is B, whose have titles.

    Titles that several have get their layers, `attention (layers 4–14)`. Sub-graphs of other runs
    are named by their layers.
    """
    hues = hues_of(reports[0], reports[-1])
    by_layers = [_by_layers(report) for report in reports[:-1]]
    titles = titles_of_groups(reports[-1], hues)
    counts = Counter(titles)
    layers = layers_of_groups(reports[-1])
    named = [
        _with_layers(title, own) if counts[title] > 1 and own else title
        for title, own in zip(titles, layers, strict=True)
    ]
    return [_distinct(names) for names in (*by_layers, named)]


def _with_layers(title: str, layers: Sequence[int]) -> str:
    """A title that several have, with the layers of one; its layers alone where it is such."""
    if title.startswith("layer"):
        return _range_text(layers, " to ")
    return f"{title} ({_range_text(layers, '–')})"


def _by_layers(report: Report) -> list[str]:
    count = len(report.tables["layers"])
    return [
        "whole model" if len(own) == count > 1 else _range_text(own, " to ") if own else "no layer"
        for own in layers_of_groups(report)
    ]


def _range_text(layers: Sequence[int], between: str) -> str:
    """`layer 3`, `layers 4–14`; some of a range where layers between are not among them."""
    first, last = layers[0] + 1, layers[-1] + 1
    if first == last:
        return f"layer {first}"
    has_all = all(other == one + 1 for one, other in pairwise(layers))
    return f"{'' if has_all else f'{len(layers)} of '}layers {first}{between}{last}"


def _distinct(names: Sequence[str]) -> list[str]:
    """Equal names with their number: `layer 3, part 2`."""
    counts, seen = Counter(names), Counter[str]()
    found = []
    for name in names:
        seen[name] += 1
        found.append(f"{name}, part {seen[name]}" if counts[name] > 1 else name)
    return found


def words_of(*reports: Report) -> list[Mapping[str, str]]:
    """Words for the keys of each run, as `in_words` takes them."""
    every = names_of_groups(*reports)
    return [words_of_keys(report, names) for report, names in zip(reports, every, strict=True)]


def words_of_keys(report: Report, names: Sequence[str]) -> Mapping[str, str]:
    """Words for the key of each sub-graph of a run and of each of its kernels.

    `stage 1, piece 2` for `g2/2`; a kernel that is its whole sub-graph has the same name.
    """
    rows = report.tables["groups"]
    words = {row["name"]: name for row, name in zip(rows, names, strict=True)}
    cut = {row["name"] for row in rows if row["pieces"] > 1}
    for kernel in report.tables["kernels"]:
        key, group = kernel["name"], kernel["group"]
        piece = key.rpartition("/")[2]
        words[key] = f"{words[group]}, piece {piece}" if group in cut else words[group]
    return words


def in_words(text: str, words: Mapping[str, str]) -> str:
    """A text with names for the keys of sub-graphs and kernels."""
    return KEY.sub(lambda found: words.get(found[0], found[0]), text)
