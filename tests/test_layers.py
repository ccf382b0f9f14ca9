"""Imports run one way, the user interface sees reports only, and only the command line prints."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from tests.house.source_files import ROOT, imports, name_of, sources

LAYERS = (
    "errors", "units", "limits", "compiled", "plain_yaml", "option_fields",
    "ir", "hardware", "semantics", "frontend",
    "products", "timing", "strategies", "lowering", "sim", "verify", "report", "export",
    "run_request", "recorder", "trial_cache", "rounds", "graph_search", "best_rounds",
    "plan_io", "pipeline", "register", "remote", "sweep", "comparison", "lecture", "cli",
    "__main__",
)  # fmt: skip
"""What a module may import: its own layer and those before it."""

PARTS = {
    "strategies": (
        "constraints", "layers", "steps", "graphturbo", "plan_files", "strategy",
        "baselines", "partitioners", "ios", "plus", "tuned", "graphturbo_levels", "best",
        "registry", "options", "planning", "compared_batches",
    ),
    "lowering": (
        "addresses", "stages", "box_bytes", "tiling", "local_buffer", "instructions",
        "global_buffer", "chip_numbering", "emission", "assemble", "branches", "caps", "known",
        "numbering", "alternatives", "placing", "placing_far", "notes", "lower",
    ),
    "sim": (
        "sweeps", "lifetimes", "checks", "trace", "stalls", "data_sources", "kernels",
        "longest_chain", "bookings", "simulate", "overlap", "occupancy", "ledger",
        "layers_in_flight", "critical_path",
    ),
    "verify": ("single_op", "local", "static", "faults", "replay", "verify"),
    "report": (
        "paper", "outcome", "rows", "bounds", "tables", "contract", "report", "canvases",
        "part_words", "sample_noun", "verdict",
        "overview", "algorithms", "measured", "chips", "json_form", "edit_choices", "build",
    ),
    "frontend": (
        "options", "parse", "shapes", "passes", "branches", "strip", "numbers", "importer",
        "catalogue",
    ),
    "semantics": (
        "access", "ops", "entries", "known_needs", "layouts", "kinds", "table", "propagate",
        "picks", "independence", "nests", "work", "feeding", "sample_axis", "fit", "cost",
    ),
}  # fmt: skip
"""Of layers with sub-packages: what a part may import of its layer, itself and those before it."""

UI_MAY_IMPORT = (
    "errors", "units", "limits", "report", "export", "comparison", "pipeline", "remote",
    "hardware.profile", "hardware.variation", "hardware.edits", "frontend.catalogue",
    "frontend.importer", "frontend.passes.clean_up",
    "run_request", "option_fields", "ir.dtypes", "strategies.options", "strategies.registry",
    "plain_yaml", "sweep.axes", "sweep.findings", "sweep.knobs", "sweep.table", "sweep.tasks",
    "sweep.typed_values",
    "lecture.results", "lecture.runs", "lecture.steps", "lecture.links",
    "lecture.printed", "lecture.yours",
)  # fmt: skip
"""Reports, and what is needed to ask for one: never a Graph, Plan, Program or Trace."""

UI_LIBRARIES = ("streamlit", "plotly", "graphturbo_ui")


def core_imports(path: Path) -> list[str]:
    """Names below `graphturbo_core` that a module imports, without that prefix."""
    prefix = "graphturbo_core."
    return [name.removeprefix(prefix) for name in imports(path) if name.startswith(prefix)]


def is_below(name: str, parents: tuple[str, ...]) -> bool:
    return any(name == parent or name.startswith(f"{parent}.") for parent in parents)


def layer_of(path: Path) -> str:
    return path.relative_to(ROOT / "graphturbo_core").with_suffix("").parts[0]


CORE = [path for path in sources("graphturbo_core") if layer_of(path) != "__init__"]
UI = [*sources("graphturbo_ui"), *ROOT.glob("app.py")]


@pytest.mark.parametrize("path", CORE, ids=name_of)
def test_a_layer_imports_only_itself_and_those_before_it(path: Path) -> None:
    layer = layer_of(path)
    assert layer in LAYERS, f"{name_of(path)}: give its layer a place in LAYERS"
    allowed = ("__version__", *LAYERS[: LAYERS.index(layer) + 1])
    for name in core_imports(path):
        assert is_below(name, allowed), f"{name_of(path)} imports {name}"


def part_faults(layer: str, part: str, names: list[str]) -> list[str]:
    """Imports of parts of the same layer that stand behind this one."""
    parts = PARTS[layer]
    allowed = tuple(f"{layer}.{each}" for each in parts[: parts.index(part) + 1])
    return [name for name in names if is_below(name, (layer,)) and not is_below(name, allowed)]


@pytest.mark.parametrize("layer", PARTS)
def test_a_part_of_a_layer_imports_only_those_before_it(layer: str) -> None:
    folder = ROOT / "graphturbo_core" / layer
    for path in sorted(folder.rglob("*.py")):
        part = path.relative_to(folder).with_suffix("").parts[0]
        if part != "__init__":
            assert part_faults(layer, part, core_imports(path)) == [], name_of(path)


@pytest.mark.parametrize("path", sources("graphturbo_core"), ids=name_of)
def test_the_library_knows_no_viewer_and_prints_in_the_command_line_only(path: Path) -> None:
    for name in imports(path):
        assert not is_below(name, UI_LIBRARIES), f"{name_of(path)} imports {name}"
    if layer_of(path) == "cli":
        return
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        is_print = isinstance(node, ast.Name) and node.id == "print"
        assert not is_print, f"{name_of(path)}:{getattr(node, 'lineno', 0)} prints"


@pytest.mark.parametrize("path", UI, ids=name_of)
def test_the_user_interface_sees_reports_only(path: Path) -> None:
    for name in core_imports(path):
        is_allowed = is_below(name, ("__version__", *UI_MAY_IMPORT))
        assert is_allowed, f"{name_of(path)} imports graphturbo_core.{name}"


def test_the_rules_are_not_vacuous() -> None:
    assert len(CORE) > 5
    backwards = ROOT / "graphturbo_core" / "ir" / "graph.py"
    assert not is_below("sim.trace", LAYERS[: LAYERS.index(layer_of(backwards)) + 1])
    assert not is_below("ir.graph", UI_MAY_IMPORT)
    assert part_faults("lowering", "tiling", ["lowering.stages.stage"]) == []
    assert part_faults("lowering", "tiling", ["lowering.emission.emit"]) != []
    assert is_below("hardware.profile.load_profile", UI_MAY_IMPORT)
    assert not is_below("hardware.hardware.Hardware", UI_MAY_IMPORT)
