"""Numbers -> text for people, and cycles -> seconds; used by figures and the command line only."""

from __future__ import annotations

from math import isfinite

NOT_A_NUMBER = "n/a"
"""Text of an infinite or undefined value."""

_BINARY = ("B", "KiB", "MiB", "GiB", "TiB", "PiB")
_LARGE = ("", "k", "M", "G", "T", "P", "E")
_SMALL = (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6), ("ns", 1e-9))


def seconds_from_cycles(cycles: int, clock_hz: int) -> float:
    """Duration in seconds of `cycles` at `clock_hz`."""
    return cycles / clock_hz


def per_second(count: float, cycles: int, clock_hz: int) -> float:
    """Rate per second of `count` events in `cycles`; infinite for zero cycles."""
    return count * clock_hz / cycles if cycles else float("inf")


def format_bytes(size_bytes: float) -> str:
    """Bytes in powers of 1024, three significant digits: `1.25 MiB`, `512 B`."""
    value, prefix = _scaled(size_bytes, 1024.0, len(_BINARY))
    return f"{value} {_BINARY[prefix]}" if prefix is not None else NOT_A_NUMBER


def bytes_beside(size_bytes: int, room_bytes: int) -> tuple[str, str]:
    """Two sizes that are compared: `34 KiB` and `24 KiB`; exact where those would be equal."""
    short = format_bytes(size_bytes), format_bytes(room_bytes)
    if short[0] != short[1] or size_bytes == room_bytes:
        return short
    return f"{format_count(size_bytes)} bytes", f"{format_count(room_bytes)} bytes"


def format_si(value: float, unit: str = "") -> str:
    """A number in powers of 1000, three significant digits: `8.4 k`, `108 GB/s`.

    A number below one gets no prefix (`0.25`); for seconds use `format_seconds`.
    """
    digits, prefix = _scaled(value, 1000.0, len(_LARGE))
    if prefix is None:
        return NOT_A_NUMBER
    return f"{digits} {_LARGE[prefix]}{unit}".rstrip()


def format_seconds(seconds: float) -> str:
    """A time from nanoseconds to seconds, three significant digits: `12.3 ms`, `0 s`."""
    if not isfinite(seconds):
        return NOT_A_NUMBER
    if seconds == 0:
        return "0 s"
    unit, size = next((row for row in _SMALL if _rounds_to(seconds, row[1])), _SMALL[-1])
    return f"{_short(seconds / size)} {unit}"


def format_count(count: int) -> str:
    """A whole number with thousands separators: `300,000`."""
    return f"{count:,}"


def counted(count: int, noun: str) -> str:
    """A count with its noun: `1 op`, `1,200 ops`."""
    return f"{format_count(count)} {noun}{'' if count == 1 else 's'}"


def format_percent(ratio: float) -> str:
    """A ratio in percent, three significant digits: `12.3 %`."""
    return f"{_short(100 * ratio)} %" if isfinite(ratio) else NOT_A_NUMBER


def _rounds_to(seconds: float, size: float) -> bool:
    """Whether `seconds` is at least 1 in a unit of `size` seconds after rounding."""
    return abs(float(f"{seconds / size:.3g}")) >= 1


def _scaled(value: float, base: float, prefixes: int) -> tuple[str, int] | tuple[str, None]:
    """Digits and prefix of `value`; a value that rounds up to `base` gets the next prefix."""
    if not isfinite(value):
        return NOT_A_NUMBER, None
    for prefix in range(prefixes):
        digits = _short(value / base**prefix)
        if abs(float(digits)) < base:
            break
    return digits, prefix


def _short(value: float) -> str:
    """Three significant digits, more only where the whole part has more; no trailing zeros."""
    magnitude = abs(float(f"{value:.3g}"))
    if magnitude == 0:
        return "0"
    places = 0 if magnitude >= 100 else max(0, 2 - _exponent(magnitude))  # noqa: PLR2004  # 3 digits
    text = f"{value:.{places}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def _exponent(magnitude: float) -> int:
    """Power of ten of the leading digit."""
    return int(f"{magnitude:e}".partition("e")[2])
