"""Results that are too slow for CI: `make evidence` runs them, CI checks that none is stale.

    python -m benchmarks.evidence [--only NAME ...]    run, write results and docs/evidence.json
    python -m benchmarks.evidence --check              do the results belong to this source?

Each result has a digest of its inputs: the sample models, profiles and rows that it reads, and the
figures of quick runs (`benchmarks.probes`). A rename does not change these figures. A change of a
decision or cost does, if one of these runs meets it.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import subprocess
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.probes.figures import figures
from benchmarks.probes.runs import OPTIONS, PLUS, SEARCHES, STRATEGIES, VENDOR, Probe

ROOT = Path(__file__).resolve().parents[1]
KEPT = ROOT / "docs" / "evidence.json"
PROFILES = "hardware_profiles/*.yaml"


@dataclass(frozen=True)
class Evidence:
    """One stored result: the commands that make it, its files, and the files that it reads.

    `probes`: quick runs whose figures enter its digest; none where it depends only on the files
    that it reads.
    """

    name: str
    commands: tuple[tuple[str, ...], ...]
    results: tuple[str, ...]
    reads: tuple[str, ...]
    probes: tuple[Probe, ...] = STRATEGIES

    def digest(self) -> str:
        """Digest of its current inputs."""
        found = hashlib.sha256()
        for path in files_of(self.reads):
            found.update(path.relative_to(ROOT).as_posix().encode() + b"\0")
            found.update(hashlib.sha256(path.read_bytes()).digest())
        if self.probes:
            found.update(figures(self.probes).encode())
        return found.hexdigest()[:16]


def _paper(*arguments: str) -> tuple[str, ...]:
    return ("benchmarks.paper", *arguments)


ALL: tuple[Evidence, ...] = (
    Evidence(
        "paper",
        (
            _paper(),
            _paper("--other-chip"),
            _paper("--variants"),
            _paper("--switches"),
            _paper("--ingredients"),
            _paper("--breakdown"),
            _paper("--options"),
            _paper("--vendor"),
            _paper("--tuned-others", "64"),
            _paper("--tuned", "64"),
            _paper("--tuned-plus", "14"),
            _paper("--tuned", "14", "--other-chip"),
            _paper("--tuned-plus", "14", "--other-chip"),
        ),
        ("docs/paper.json", "docs/paper.md"),
        (PROFILES, "sample_models/*.onnx", "benchmarks/paper/rows.py"),
        (*STRATEGIES, *OPTIONS, *PLUS, *SEARCHES, *VENDOR),
    ),
    Evidence(
        "constants",
        (("benchmarks.constants",),),
        ("docs/constants.md",),
        (PROFILES, "sample_models/*.onnx", "benchmarks/paper/rows.py", "benchmarks/constants.py"),
        (*STRATEGIES, *PLUS),
    ),
    Evidence(
        "quality",
        tuple(
            ("benchmarks.quality", *flag, "--afresh")
            for flag in ((), ("--closed-forms",), ("--others",))
        ),
        (
            "docs/quality.json",
            "docs/quality.md",
            "docs/closed-forms.json",
            "docs/quality-others.json",
        ),
        (
            PROFILES,
            "sample_models/*.onnx",
            "graphturbo_core/strategies/best/*.py",
            "graphturbo_core/strategies/plus/*.py",
        ),
    ),
    Evidence(
        "schedulers",
        (("benchmarks.schedulers", "--afresh"), ("benchmarks.schedulers", "--samples")),
        (
            "docs/schedulers.json",
            "docs/scheduler-samples.json",
            "docs/schedulers.md",
            "docs/scheduler-abilities.json",
        ),
        (
            PROFILES,
            "sample_models/*.onnx",
            "graphturbo_core/strategies/partitioners/*.py",
            "graphturbo_core/strategies/ios/*.py",
            "benchmarks/schedulers/matrix.py",
        ),
    ),
    Evidence(
        "recurrent",
        (("tests.verify.recurrent_table",),),
        ("docs/recurrent.md",),
        (
            PROFILES,
            "tests/verify/models/recurrent.py",
            "graphturbo_core/frontend/passes/unroll.py",
            "graphturbo_core/frontend/passes/cells.py",
        ),
    ),
    Evidence(
        "mutation",
        (("tests.mutation",),),
        ("docs/mutation.json", "docs/mutation.md"),
        ("tests/mutation/*.py",),
        probes=(),
    ),
    Evidence(
        "mutants",
        (("tests.verify.judge",),),
        ("docs/mutants.md",),
        ("tests/verify/broken/*mutant*.py",),
    ),
    Evidence(
        "node-suite",
        (("tests.verify.node_table", "--write"),),
        ("docs/node-suite.md",),
        ("tests/verify/node_suite.py", "requirements.txt"),
        probes=(),
    ),
    Evidence(
        "matrix",
        (("tests.matrix", "--write"),),
        ("docs/matrix.md",),
        (
            PROFILES,
            "sample_models/*.onnx",
            "tests/matrix*.py",
            "tests/verify/small_samples.py",
        ),
        probes=(),
    ),
    Evidence(
        "verified",
        (("benchmarks.verified",),),
        ("docs/verified.json",),
        ("benchmarks/verified/replays.py", "requirements.txt"),
        probes=(),
    ),
    Evidence(
        "slow-tests",
        (("tests.house.kept_tests",),),
        ("docs/slow-tests.json",),
        ("tests/house/kept_tests.py",),
        probes=(),
    ),
)
"""`mutation` reports its stale lines itself (tests/test_mutation.py). `node-suite` and `matrix`
record sound and replayed runs, which no change may break; CI runs a sample of them. `verified` has
a check of its own, which compares the digests of Programs. `slow-tests` has a digest by file, and
CI runs the tests of a file with another one."""


def files_of(patterns: Iterable[str]) -> list[Path]:
    """The files that match these patterns, by name.

    Raises:
        ValueError: a pattern matches none.
    """
    found: list[Path] = []
    for pattern in patterns:
        files = sorted(ROOT.glob(pattern))
        if not files:
            raise ValueError(f"{pattern} matches no file")
        found += files
    return found


def kept() -> Mapping[str, str]:
    """Stored digests by name."""
    return json.loads(KEPT.read_text(encoding="utf-8")) if KEPT.exists() else {}


def stale() -> list[str]:
    """Results to run again, each with the reason."""
    known, found = kept(), []
    for each in ALL:
        missing = [name for name in each.results if not (ROOT / name).is_file()]
        if each.name not in known or missing:
            found.append(
                f"{each.name}: never run, or {', '.join(missing) or 'no digest'} is missing"
            )
        elif known[each.name] != each.digest():
            found.append(f"{each.name}: its inputs have changed")
    return found


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs or checks the results; returns 1 where one is stale or a command fails."""
    parser = argparse.ArgumentParser(description="Results that are too slow for CI")
    parser.add_argument("--check", action="store_true", help="run nothing")
    parser.add_argument("--only", nargs="*", default=[e.name for e in ALL], help="these alone")
    parser.add_argument("--keep", action="store_true", help="store digests of valid results")
    chosen = parser.parse_args(arguments)
    if chosen.check:
        for line in stale():
            print(f"stale: {line}; run `make evidence`", file=sys.stderr)
        return int(bool(stale()))
    for each in ALL:
        if each.name in chosen.only:
            for command in () if chosen.keep else each.commands:
                subprocess.run([sys.executable, "-m", *command], cwd=ROOT, check=True)
            found = {**kept(), each.name: each.digest()}
            KEPT.write_text(f"{json.dumps(found, indent=1, sort_keys=True)}\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
