"""Errors of the library: each names what is refused, where, and what to change."""

from __future__ import annotations


class GraphTurboError(Exception):
    """Refusal with a stable code; `fields` has its data so that nobody parses the text."""

    def __init__(
        self, code: str, what: str, where: str = "", change: str = "", **fields: object
    ) -> None:
        """Joins `what`, `where` and `change` to one line; stores `fields` as data."""
        super().__init__(", ".join(part for part in (what, where, change) if part))
        self.code = code
        self.what = what
        self.where = where
        self.change = change
        self.fields = dict(fields)

    def line(self) -> str:
        """The contract's one line: `error: CODE: what, where, what to change`."""
        return f"error: {self.code}: {' '.join(str(self).split())}"


class ModelError(GraphTurboError):
    """The model cannot be imported as given."""


class ProfileError(GraphTurboError):
    """The hardware profile is not valid."""


class OptionError(GraphTurboError):
    """A strategy, dimension or option that the user named does not exist or does not fit."""


class PlanError(GraphTurboError):
    """A plan file belongs to another model or chip, or requests something impossible."""


class MeasurementError(GraphTurboError):
    """A file of measured times cannot be read."""


class CapacityError(GraphTurboError):
    """Data exceed a memory, or the run exceeds a cap of `Limits`."""


class InvariantError(GraphTurboError):
    """A product breaks one of its own invariants: our bug."""
