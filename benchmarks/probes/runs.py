"""The quick runs, in sets; an option of `graphturbo` is set where it changes a figure."""

from __future__ import annotations

from dataclasses import dataclass, replace

PROBED = ("cycles", "instructions", "kernels", "dram_ledger", "macs", "lower_bound_s")
"""Keys of a run's contract that enter the digest."""
PROGRAM = "program_sha256"
"""Key that a run adds whose figures show too little of its plan."""
RESNET, SMALL_CHIP = "teaching-resnet", "generic-4x4"
IMAGES = 36
"""So many make several groups and pieces of RESNET in one cluster."""


@dataclass(frozen=True)
class Probe:
    """A quick run.

    - `model`: a sample, or a model of tests/strategies/graphturbo/readings.py.
    - `options`: as `NAME=VALUE` of `--set`.
    - `keys`: keys of its contract that enter the digest.
    - `plan`: name of a plan file under docs/, "" for none.
    """

    model: str
    strategy: str
    chip: str
    batch: int
    options: tuple[str, ...] = ()
    keys: tuple[str, ...] = PROBED
    plan: str = ""


STRATEGIES = (
    Probe(RESNET, "layerwise@2", "stcp920", 8),
    Probe(RESNET, "tvm@2", SMALL_CHIP, 8),
    Probe(RESNET, "astitch@2", "stcp920", 8),
    Probe(RESNET, "graphturbo:order@2", SMALL_CHIP, 8),
    Probe(RESNET, "graphturbo@2", "goya", 8),
    Probe(RESNET, "graphturbo:plus@2", SMALL_CHIP, 8),
    Probe("dlrm", "graphturbo@256", "stcp920", 1024),
    Probe("mobilenet-v2", "tvm@2", "stcp920", 8),
    Probe("light-squeezenet", "graphturbo", "ascend910", 1),
)
"""Their figures change with most decisions and costs."""


def _on_resnet(option: str, value: str, level: str = "full") -> Probe:
    """In several groups and pieces, all images in one cluster."""
    options = (f"graphturbo.{option}={value}",)
    return Probe(RESNET, f"graphturbo:{level}@{IMAGES}", SMALL_CHIP, IMAGES, options)


def _on_model(model: str, *options: str, level: str = "full") -> Probe:
    named = tuple(f"graphturbo.{option}" for option in options)
    return Probe(model, f"graphturbo:{level}", SMALL_CHIP, 1, named)


OPTIONS = (
    _on_model("deep", "peak=literal"),
    _on_resnet("candidates", "literal"),
    _on_model("deep", "best=fewest-pieces"),
    _on_resnet("blocks", "none"),
    _on_model("wide", "fit=cluster"),
    _on_model("falling", "binding=literal"),
    _on_model("falling", "merging=equal"),
    _on_model("falling", "merging=largest"),
    _on_model("falling", "merging=any"),
    _on_model("wide", "coverage=outputs", "merging=any"),
    _on_model("falling", "binding_of=instances"),
    replace(_on_model("gated", "gb_binding=plain"), keys=(*PROBED, PROGRAM)),
    _on_model("gated", "conflicts=lb"),
    _on_model("roomy", "gb_room=whole", level="gb"),
    _on_resnet("instance_order", "breadth-first"),
    _on_resnet("double_buffering", "off"),
    _on_resnet("fence", "on"),
    _on_resnet("fence", "off", level="order"),
    _on_resnet("list_scheduling", "on", level="order"),
    _on_resnet("list_scheduling", "off"),
)
"""Every value of an option of `graphturbo` that is not its default."""

PLUS = (Probe(RESNET, "graphturbo:plus@24", SMALL_CHIP, 96),)
"""It retains weights in GB here."""


def _search(evaluations: int, *options: str) -> Probe:
    chosen = (f"evaluations={evaluations}", "seed=3", *options)
    named = tuple(f"tuned.{option}" for option in chosen)
    return Probe(RESNET, "tuned@24", SMALL_CHIP, 96, named, (*PROBED, PROGRAM))


SEARCHES = (_search(24), _search(16, "starts=others"), _search(24, "space=plus"))
"""More evaluations than named starts, so the sampler proposes plans too."""

VENDOR = (Probe("resnet50-v15", "graphturbo@16", "stcp920", 64, plan="vendor-resnet50.plan.yaml"),)
"""The plan file of the vendor's schedule."""
