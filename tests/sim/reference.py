"""An independent simulator: cycle by cycle, in plain Python, straight from design, section 5."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import count

from graphturbo_core.products.program import Engine, InstructionKind, Memory
from graphturbo_core.sim.data_sources import DataSource
from graphturbo_core.sim.trace import Wait

from .programs import Step


@dataclass
class Reference:
    """Runs a short list of steps; results are `start`, `wait`, `wait_on`, `stalls`."""

    steps: Sequence[Step]
    segments: Sequence[tuple[int, int]]
    start: dict[int, int] = field(default_factory=dict)
    opened: list[int] = field(default_factory=list)
    closed: list[int] = field(default_factory=list)
    entered: set[int] = field(default_factory=set)
    queues: dict[str, list[int]] = field(default_factory=dict)
    let_in: dict[int, tuple[int, int]] = field(default_factory=dict)

    def run(self) -> Reference:
        """Step the clock until the last segment has closed."""
        for cycle in count():
            while self._do_one_thing(cycle):
                pass
            if self.closed and len(self.closed) == len(self.segments) and self.closed[-1] <= cycle:
                return self
        raise AssertionError

    def _do_one_thing(self, cycle: int) -> bool:
        return self._segment(cycle) or self._leave(cycle) or self._head(cycle) or self._enter(cycle)

    def _segment(self, cycle: int) -> bool:
        """Open the next segment, or close the open one: both are known before they happen."""
        now = len(self.opened) - 1
        if len(self.closed) == len(self.opened):
            if len(self.opened) == len(self.segments):
                return False
            before = self.closed[-1] if self.closed else 0
            opens = before + self.segments[now + 1][0]
            if cycle == opens:
                self.opened.append(opens)
            return cycle == opens
        own = [i for i, step in enumerate(self.steps) if step.segment == now]
        if all(i in self.start and self.end(i) <= cycle for i in own):
            self.closed.append(cycle + self.segments[now][1])
            return True
        return False

    def end(self, i: int) -> int:
        """When i's result is visible."""
        return self.start[i] + self.steps[i].hold_cycles + self.steps[i].latency

    def _leave(self, cycle: int) -> bool:
        for name, queue in self.queues.items():
            if queue and queue[0] in self.start:
                head = queue[0]
                if self.start[head] + self.steps[head].channels[name] <= cycle:
                    queue.pop(0)
                    if queue:
                        last, by = self.let_in.get(queue[0], (-1, -1))
                        better = head if last < cycle else min(by, head)
                        self.let_in[queue[0]] = (cycle, better)
                    return True
        return False

    def _head(self, cycle: int) -> bool:
        for i in sorted(self.entered - set(self.start)):
            if all(self.queues[name][0] == i for name in self.steps[i].channels):
                self.start[i] = cycle
                return True
        return False

    def _enter(self, cycle: int) -> bool:
        for i, step in enumerate(self.steps):
            if i not in self.entered and self._is_ready(i, cycle):
                self.entered.add(i)
                for name in step.channels:
                    self.queues.setdefault(name, []).append(i)
                return True
        return False

    def _is_ready(self, i: int, cycle: int) -> bool:
        step = self.steps[i]
        earlier = [j for j in range(i) if self.steps[j].find() == step.find()]
        return (
            step.segment < len(self.opened)
            and all(
                j in self.start and self.start[j] + self.steps[j].hold_cycles <= cycle
                for j in earlier
            )
            and all(j in self.start and self.end(j) <= cycle for j in (*step.data, *step.address))
        )

    def reason(self, i: int, free: int) -> tuple[int, Wait, int]:
        """When i was ready, and the class and instruction of what ended last."""
        step = self.steps[i]
        reasons = [(self.end(j), j, Wait.DATA, j) for j in step.data]
        reasons += [(self.end(j), j, Wait.ADDRESS, j) for j in step.address]
        reasons.append((self.opened[step.segment], len(self.steps), Wait.BARRIER, -1))
        latest = max(cycle for cycle, *_ in reasons)
        _, _, kind, on = min(entry for entry in reasons if entry[0] == latest)
        return (latest, kind, on) if latest > free else (free, Wait.BUSY, -1)

    def waits(self) -> list[tuple[Wait, int]]:
        """`wait` and `wait_on` of every instruction."""
        found = []
        for i, step in enumerate(self.steps):
            earlier = [j for j in range(i) if self.steps[j].find() == step.find()]
            free = max((self.start[j] + self.steps[j].hold_cycles for j in earlier), default=0)
            ready, kind, on = self.reason(i, free)
            if self.start[i] > ready:
                kind, on = Wait.CHANNEL, self.let_in[i][1]
            found.append((kind, on))
        return found

    def stalls(self, engine: Engine) -> list[int]:
        """Cycles of each class, counted one by one."""
        counts = [0] * len(Wait)
        for cycle in range(self.closed[-1]):
            counts[self._class_at(engine, cycle)] += 1
        return counts

    def data_waits(self, engine: Engine) -> list[int]:
        """Cycles in which it waits for data, by what brings them."""
        counts = [0] * len(DataSource)
        for cycle in range(self.closed[-1]):
            kind, on = self._reason_at(engine, cycle)
            if kind is Wait.DATA:
                counts[source(self.steps[on])] += 1
        return counts

    def _class_at(self, engine: Engine, cycle: int) -> Wait:
        return self._reason_at(engine, cycle)[0]

    def _reason_at(self, engine: Engine, cycle: int) -> tuple[Wait, int]:
        free = 0
        for i, step in enumerate(self.steps):
            if step.find() != engine:
                continue
            stop = self.start[i] + step.hold_cycles
            if cycle < self.start[i]:
                ready, kind, on = self.reason(i, free)
                return (kind, on) if cycle < ready else (Wait.CHANNEL, -1)
            if cycle < stop:
                return Wait.BUSY, -1
            free = stop
        return Wait.IDLE, -1


def source(step: Step) -> DataSource:
    """What brings a step's data: the name of an engine, or of the farther memory."""
    if step.kind is InstructionKind.COMPUTE:
        return DataSource[step.find().kind.name]
    ends = {Memory(end).name for end in (step.source, step.target)}
    return next(DataSource[name] for name in ("DRAM", "GB", "LB") if any(name in e for e in ends))
