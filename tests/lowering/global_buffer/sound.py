"""Plan -> Trace: lowered, simulated, and checked in every way that needs no numbers."""

from __future__ import annotations

from graphturbo_core.lowering.lower import lower
from graphturbo_core.products.plan import Plan
from graphturbo_core.sim.ledger import ledger
from graphturbo_core.sim.simulate import simulate
from graphturbo_core.sim.trace import Trace
from graphturbo_core.verify.static.causes import wrong_cause
from graphturbo_core.verify.static.claims import wrong_claim
from graphturbo_core.verify.static.halo_bytes import wrong_halo
from tests.lowering.counting import check_program


def checked(plan: Plan) -> Trace:
    """The trace, sound in every way that a replay on identities and the claims see."""
    plan.check()
    trace = simulate(lower(plan))
    trace.check()
    check_program(trace)
    assert wrong_claim(trace.program) is None
    assert wrong_cause(trace.program) is None
    assert wrong_halo(trace.program) is None
    ledger(trace.program).check()
    return trace
