"""Names of the values of a step's control, as the address has them."""

from __future__ import annotations

import re

from graphturbo_core.lecture.steps import LectureSetting


def setting_key(setting: LectureSetting) -> str:
    """`group-of-layers` for a value labelled “group of layers”."""
    return re.sub(r"[^a-z0-9.]+", "-", setting.label.lower()).strip("-")
