"""SVG elements as text: every name and text is escaped here."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from graphturbo_ui.text import Sink, safe_text

MAX_TEXT = 400


def element(name: str, *children: str, **attributes: object) -> str:
    """An element; `_` in a name of an attribute stands for `-`, a trailing one is dropped."""
    named = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{_shown(value)}"'
        for key, value in attributes.items()
        if value is not None
    )
    return f"<{name}{named}>{''.join(children)}</{name}>"


def _shown(value: object) -> str:
    text = f"{value:.2f}".rstrip("0").rstrip(".") if isinstance(value, float) else str(value)
    return safe_text(text, Sink.HTML, MAX_TEXT)


@dataclass(frozen=True, slots=True)
class Box:
    """A rectangle in the picture's units."""

    x: float
    y: float
    width: float
    height: float

    @property
    def right(self) -> float:
        """Right edge."""
        return self.x + self.width

    @property
    def bottom(self) -> float:
        """Lower edge."""
        return self.y + self.height


@dataclass(frozen=True, slots=True)
class Span:
    """A piece of a line of text: `is_number` is bold, `is_assumption` has a dotted underline."""

    text: str
    is_number: bool = False
    is_assumption: bool = False
    is_ratio: bool = False


def rect(box: Box, class_: str, **more: object) -> str:
    """A rectangle of a class of the style sheet."""
    return element(
        "rect", x=box.x, y=box.y, width=box.width, height=box.height, class_=class_, **more
    )


def line_of(x: float, y: float, spans: Iterable[Span], anchor: str | None = None) -> str:
    """A line of text with its baseline at y."""
    pieces = [
        element("tspan", safe_text(span.text, Sink.HTML), class_=_class(span)) for span in spans
    ]
    return element("text", " ".join(pieces), x=x, y=y, text_anchor=anchor)


def _class(span: Span) -> str:
    if span.is_ratio:
        return "ratio"
    return ("number" if span.is_number else "word") + (" assumed" if span.is_assumption else "")


def part(name: str, label: str, hit: Box, *children: str) -> str:
    """A part of the chip that can be pointed at and focused; `label` reads all of its numbers."""
    return element(
        "g",
        element("title", safe_text(label, Sink.HTML, 2000)),
        rect(hit, "hit"),
        " ".join(children),
        class_="part",
        data_part=name,
        tabindex=0,
        role="img",
    )


def arrow_down(x: float, top: float, bottom: float, width: float) -> str:
    """An arrow of this width that points down."""
    half, head = width / 2, width * 0.5 + 4
    neck = max(top, bottom - head * 0.8)
    path = (
        f"M{x - half:.1f} {top:.1f}H{x + half:.1f}V{neck:.1f}H{x + head:.1f}L{x:.1f} {bottom:.1f}"
        f"L{x - head:.1f} {neck:.1f}H{x - half:.1f}Z"
    )
    return element("path", d=path, class_="arrow")


def arrow_right(left: float, right: float, y: float, width: float) -> str:
    """An arrow of this width with a head at both ends."""
    half, head = width / 2, width * 0.5 + 4
    neck = min(head * 0.8, (right - left) / 2.5)
    path = (
        f"M{left:.1f} {y:.1f}L{left + neck:.1f} {y - head:.1f}V{y - half:.1f}H{right - neck:.1f}"
        f"V{y - head:.1f}L{right:.1f} {y:.1f}L{right - neck:.1f} {y + head:.1f}V{y + half:.1f}"
        f"H{left + neck:.1f}V{y + head:.1f}Z"
    )
    return element("path", d=path, class_="arrow")
