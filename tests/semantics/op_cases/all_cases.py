"""Every one-op model of the property tests; between them they have each entry of the table."""

from __future__ import annotations

from tests.semantics.op_cases import (
    cases,
    cases_dense,
    cases_elementwise,
    cases_fused,
    cases_picking,
    cases_products,
)
from tests.semantics.op_cases.cases import Case

ALL_CASES: tuple[Case, ...] = (
    *cases.CASES, *cases_elementwise.CASES, *cases_dense.CASES, *cases_picking.CASES,
    *cases_products.CASES, *cases_fused.CASES,
)  # fmt: skip
