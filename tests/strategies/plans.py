"""The plan of one strategy for one cluster's round, without a plan file or a search."""

from __future__ import annotations

from collections.abc import Mapping

from graphturbo_core.hardware.hardware import Hardware
from graphturbo_core.products.plan import Plan
from graphturbo_core.semantics.table import GraphSemantics
from graphturbo_core.strategies.planning import PlanTask, plan_for
from graphturbo_core.strategies.registry import StrategySpec


def make_plan(
    spec: StrategySpec,
    semantics: GraphSemantics,
    hardware: Hardware,
    number_format: str,
    options: Mapping[str, str],
) -> Plan:
    return plan_for(spec, PlanTask(semantics, hardware, number_format, options))
