"""Source files -> mutants: every place where an operator of cosmic-ray changes what runs."""

from __future__ import annotations

import ast
import random
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FOLDERS = (
    "graphturbo_core/report",
    "graphturbo_core/hardware",
    "graphturbo_core/semantics",
    "graphturbo_core/products",
    "graphturbo_core/strategies",
    "graphturbo_ui/figures",
)
"""What is shown, and what it is computed from: report (with the verdict), figures, and so on."""
SAME = frozenset(
    f"core/ReplaceComparisonOperator_{one}"
    for one in ("Eq_Is", "Is_Eq", "NotEq_IsNot", "IsNot_NotEq")
)
"""Operators that change nothing where enums and None are compared, which is where these stand."""
KEPT_FROZEN = ("frozen", "slots")


@dataclass(frozen=True, slots=True)
class Mutant:
    """One change of one file: the operator, which of its places, and the lines that differ."""

    file: str
    operator: str
    occurrence: int
    line: int
    before: str
    after: str

    @property
    def key(self) -> tuple[str, str, str]:
        """What stays the same when lines above it are added: file, and the lines that differ."""
        return self.file, self.before, self.after


def source_files(folders: Iterable[str] = FOLDERS) -> list[str]:
    """The Python files below these folders, by name."""
    found = (path for folder in folders for path in (ROOT / folder).rglob("*.py"))
    return sorted(str(path.relative_to(ROOT)) for path in found)


@cache
def places(file: str) -> dict[tuple[int, int], list[tuple[str, int]]]:
    """By position in a file, all that cosmic-ray can put there: operator and its occurrence."""
    from cosmic_ray.ast import ast_nodes, get_ast_from_path  # noqa: PLC0415  # evidence alone
    from cosmic_ray.plugins import get_operator, operator_names  # noqa: PLC0415

    nodes = list(ast_nodes(get_ast_from_path(ROOT / file)))
    found: dict[tuple[int, int], list[tuple[str, int]]] = {}
    for name in sorted(set(operator_names()) - SAME):
        operator_class = get_operator(name)
        if operator_class.arguments():
            continue
        operator = operator_class()
        positions = (start for node in nodes for start, _ in operator.mutation_positions(node))
        for occurrence, start in enumerate(positions):
            found.setdefault(start, []).append((name, occurrence))
    return found


def drawn(count: int, seed: int, files: Iterable[str] | None = None) -> list[Mutant]:
    """So many mutants, by seed: first a position of all files, then what is put there.

    A draw that changes nothing that runs is passed over.
    """
    every = [(file, at) for file in files or source_files() for at in sorted(places(file))]
    chance = random.Random(seed)
    found: list[Mutant] = []
    for file, at in chance.sample(every, len(every)):
        mutant = made(file, *chance.choice(places(file)[at]))
        if mutant is not None:
            found.append(mutant)
        if len(found) == count:
            break
    return sorted(found, key=lambda each: (each.file, each.line, each.operator, each.occurrence))


def made(file: str, operator: str, occurrence: int) -> Mutant | None:
    """The mutant at a place; None where docstrings and annotations are all that differs."""
    source = (ROOT / file).read_text(encoding="utf-8")
    changed = mutated(source, operator, occurrence)
    if changed is None or running(changed) in (None, running(source)):
        return None
    old, new = source.splitlines(), changed.splitlines()
    first = next(i for i, (a, b) in enumerate(zip(old, new, strict=False)) if a != b)
    last = next(
        i for i, (a, b) in enumerate(zip(reversed(old), reversed(new), strict=False)) if a != b
    )
    before, after = old[first : len(old) - last], new[first : len(new) - last]
    return Mutant(file, operator, occurrence, first + 1, "\n".join(before), "\n".join(after))


def placed(known: Mutant) -> Mutant | None:
    """The same mutant where its lines are now; None where they are gone."""
    path = ROOT / known.file
    if not path.is_file() or known.before not in path.read_text(encoding="utf-8"):
        return None
    occurrences = sorted(
        occurrence
        for choices in places(known.file).values()
        for operator, occurrence in choices
        if operator == known.operator
    )
    near = sorted(occurrences, key=lambda occurrence: abs(occurrence - known.occurrence))
    found = (made(known.file, known.operator, occurrence) for occurrence in near)
    return next((each for each in found if each and each.key == known.key), None)


def mutated(source: str, operator: str, occurrence: int) -> str | None:
    """The source with that change; None where there is no such place."""
    from cosmic_ray.mutating import mutate_code  # noqa: PLC0415
    from cosmic_ray.plugins import get_operator  # noqa: PLC0415

    return mutate_code(source, get_operator(operator)(), occurrence)


def running(source: str) -> str | None:
    """What of a source is executed: its tree without annotations and docstrings; None: not Python.

    With `from __future__ import annotations` no annotation is evaluated; a dataclass reads names of
    its fields alone. Nothing writes to a frozen instance, so that `frozen` and `slots` matter to
    nobody who keeps to that.
    """
    try:
        tree = ast.parse(source)
    except SyntaxError:
        return None
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            node.returns = None
        if isinstance(node, ast.arg):
            node.annotation = None
        if isinstance(node, ast.AnnAssign):
            node.annotation = ast.Constant(value=None)
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "dataclass":
            node.keywords = [each for each in node.keywords if each.arg not in KEPT_FROZEN]
        if isinstance(getattr(node, "body", None), list):
            node.body = [each for each in node.body if not _is_text(each)]  # type: ignore[attr-defined]
    return ast.dump(tree)


def _is_text(statement: ast.stmt) -> bool:
    """Whether a statement is a text alone: a docstring, or one below a constant."""
    return isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)
