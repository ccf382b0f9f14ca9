"""A profile's YAML bytes -> Hardware: validated, every number with its source."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from enum import Enum
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ValidationError

from graphturbo_core.errors import ProfileError
from graphturbo_core.hardware.hardware import Hardware, Sourced
from graphturbo_core.hardware.memory_budget import memory_budget
from graphturbo_core.hardware.refusals import invalid, refusal, unsupported
from graphturbo_core.hardware.schema import ASSUMPTION, Entry, Profile, Rates
from graphturbo_core.hardware.tile_rules import DEFAULT_RULES
from graphturbo_core.limits import DEFAULT_LIMITS
from graphturbo_core.plain_yaml import Plain, YamlKind, plain_yaml, shown

DEFAULT_PROFILE = "stcp920"
"""The chip of the paper's own numbers."""

PROFILE_YAML = YamlKind(
    noun="profile",
    code="PROFILE",
    error=ProfileError,
    max_bytes=DEFAULT_LIMITS.max_profile_bytes,
    max_depth=8,
    right_file="give a YAML profile, not a model",
    start="start with `name: …`",
    depth_hint="a profile has section, key, value, source",
    one_document="write one chip per file",
)
"""A profile is four mappings deep; up to eight, the schema's message is better."""

MOST_PARSED = 16
"""Cached profiles (our choice: all shipped ones, and a few of a user)."""

SPLIT_CAPACITY = "cluster.split_capacity_bytes"
PROFILES_FOLDER = Path(__file__).resolve().parents[2] / "hardware_profiles"


def profile_names() -> tuple[str, ...]:
    """Names of the shipped profiles: the default one first, the others sorted."""
    stems = (path.stem for path in PROFILES_FOLDER.glob("*.yaml"))
    return tuple(sorted(stems, key=lambda stem: (stem != DEFAULT_PROFILE, stem)))


def load_profile(name_or_path: str) -> Hardware:
    """Returns the chip of a shipped profile, or of a YAML file; shipped names have precedence.

    Raises:
        ProfileError: neither a shipped name nor a readable file, or the profile is refused.
    """
    path = _shipped(name_or_path) or Path(name_or_path)
    return parse_profile(_read(path, name_or_path), path.name)


def read_profile(name: str, data: bytes | None = None) -> Hardware:
    """The chip of that name, or of `data`, a YAML profile that goes by it.

    Raises:
        ProfileError: as `load_profile` and `parse_profile`.
    """
    return load_profile(name) if data is None else parse_profile(data, name)


@lru_cache(maxsize=MOST_PARSED)
def parse_profile(data: bytes, file_name: str) -> Hardware:
    """Returns the chip of a YAML profile; `file_name` is for messages only.

    A profile with `extends: NAME` of a shipped one has only the differing keys (one level). The
    latest chips are cached.

    Raises:
        ProfileError: naming file, key, value and range.
    """
    tree = _extended(plain_yaml(data, file_name, PROFILE_YAML), file_name)
    try:
        profile = Profile.model_validate(tree)
    except ValidationError as error:
        raise refusal(error, file_name) from error
    _check_supported(profile, file_name)
    _check_gb(profile, file_name)
    _check_pool(profile, file_name)
    return _hardware(profile)


def profile_tree(name_or_path: str, data: bytes | None = None) -> dict[str, Plain]:
    """The sections and entries of a profile as written, `extends` resolved, not yet validated.

    `data`: a YAML profile that goes by the name; without it the name is looked up.

    Raises:
        ProfileError: neither a shipped name nor a readable file, or not plain YAML.
    """
    path = _shipped(name_or_path) or Path(name_or_path)
    read = _read(path, name_or_path) if data is None else data
    return _extended(plain_yaml(read, path.name, PROFILE_YAML), path.name)


def _shipped(name: str) -> Path | None:
    return PROFILES_FOLDER / f"{name}.yaml" if name in profile_names() else None


def _read(path: Path, name: str) -> bytes:
    """Reads at most one byte above the limit: a huge file is refused without reading it all."""
    try:
        if not path.is_file():
            raise FileNotFoundError(path)
        with path.open("rb") as file:
            return file.read(PROFILE_YAML.max_bytes + 1)
    except (OSError, ValueError) as error:
        what = f"profile {shown(name)} is neither a shipped name nor a readable file"
        change = f"choose one of {', '.join(profile_names())} or give a YAML file"
        raise ProfileError("UNKNOWN_PROFILE", what, "", change, file=name) from error


def _extended(tree: dict[str, Plain], file_name: str) -> dict[str, Plain]:
    if "extends" not in tree:
        return tree
    whole = {name: base for name in profile_names() if "extends" not in (base := _tree(name))}
    name = tree["extends"]
    if not isinstance(name, str) or name not in whole:
        what = f"extends is {shown(name)}"
        raise invalid(file_name, "extends", name, what, f"write one of {', '.join(whole)}")
    return _merged(whole[name], {key: tree[key] for key in tree if key != "extends"})


def _tree(name: str) -> dict[str, Plain]:
    path = PROFILES_FOLDER / f"{name}.yaml"
    return plain_yaml(_read(path, name), path.name, PROFILE_YAML)


def _merged(base: dict[str, Plain], override: dict[str, Plain]) -> dict[str, Plain]:
    """`base` updated by `override` key by key; an entry is replaced whole."""
    merged = dict(base)
    for key, value in override.items():
        below = base.get(key)
        is_section = isinstance(value, dict) and not {"value", "source"} & value.keys()
        if isinstance(value, dict) and isinstance(below, dict) and is_section:
            merged[key] = _merged(below, value)
        else:
            merged[key] = value
    return merged


def _check_supported(profile: Profile, file_name: str) -> None:
    cluster = profile.cluster
    engine, placement = cluster.shared_engine, cluster.weight_placement
    shared = "none" if engine is None else engine.value
    if shared not in {"none", "matrix"}:
        feature = f"a {shared} engine shared by the cores of a cluster"
        raise unsupported(file_name, "cluster.shared_engine", shared, feature)
    has_gb = cluster.gb_bytes.value > 0
    if placement is not None and placement.value == "sharded" and has_gb:
        feature = "sharding weights over the LBs beside a GB"
        raise unsupported(file_name, "cluster.weight_placement", placement.value, feature)


def _check_gb(profile: Profile, file_name: str) -> None:
    """A GB has a bandwidth, a latency and a DMA that fills it; without one there are none."""
    cluster = profile.cluster
    has_gb = cluster.gb_bytes.value > 0
    for name in ("gb_bandwidth_bytes_per_s", "gb_latency_cycles"):
        entry, key = getattr(cluster, name), f"cluster.{name}"
        if has_gb and entry is None:
            raise invalid(file_name, key, "", f"key {key} is missing", "add it or gb_bytes: 0")
        if entry is not None and not has_gb:
            what = f"{key} is {entry.value} while cluster.gb_bytes is 0"
            raise invalid(file_name, key, entry.value, what, "remove it or give a GB")
    if has_gb and not cluster.dma_engines.value:
        what = "cluster.dma_engines is 0 while there is a GB to fill"
        change = "write a whole number from 1 to 16"
        raise invalid(file_name, "cluster.dma_engines", 0, what, change)
    if cluster.shared_engine is not None and cluster.shared_engine.value != "none" and not has_gb:
        key, value = "cluster.shared_engine", cluster.shared_engine.value
        what = f"{key} is {value} while cluster.gb_bytes is 0"
        raise invalid(file_name, key, value, what, "give a GB, in which a shared engine works")


def _check_pool(profile: Profile, file_name: str) -> None:
    core = profile.core
    data_bytes, weight_bytes = core.lb_data_bytes.value, core.lb_weight_bytes.value
    if _is_pooled(profile) and data_bytes != weight_bytes:
        key = "core.lb_weight_bytes"
        what = f"{key} is {weight_bytes} while core.is_pooled is true"
        change = f"write {data_bytes} as in core.lb_data_bytes: both name the whole pool"
        raise invalid(file_name, key, weight_bytes, what, change)


def _is_pooled(profile: Profile) -> bool:
    entry = profile.core.is_pooled
    return entry is not None and entry.value


def _hardware(profile: Profile) -> Hardware:
    chip, cluster, core, kernel = profile.chip, profile.cluster, profile.core, profile.kernel
    split_capacity = cluster.split_capacity_bytes
    hardware = Hardware(
        name=profile.name,
        title=profile.title,
        clusters=chip.clusters.value,
        cores=cluster.cores.value,
        clock_hz=chip.clock_hz.value,
        matrix_rows=core.matrix_rows.value,
        matrix_columns=core.matrix_columns.value,
        matrix_model=core.matrix_model.value,
        matrix_rate=_rates(core.matrix_rate),
        vector_lanes=core.vector_lanes.value,
        vector_rate=_rates(core.vector_rate),
        transcendental_ops=core.transcendental_ops.value,
        dma_engines=cluster.dma_engines.value,
        lb_data_bytes=core.lb_data_bytes.value,
        lb_weight_bytes=core.lb_weight_bytes.value,
        staging_bytes=core.staging_bytes.value,
        is_pooled=_is_pooled(profile),
        gb_bytes=cluster.gb_bytes.value,
        dram_bytes=cluster.dram_bytes.value,
        lb_bandwidth=core.lb_bandwidth_bytes_per_s.value,
        gb_bandwidth=_value_or_none(cluster.gb_bandwidth_bytes_per_s),
        dram_bandwidth=cluster.dram_bandwidth_bytes_per_s.value,
        link_bandwidth=core.link_bandwidth_bytes_per_s.value,
        dram_latency_cycles=cluster.dram_latency_cycles.value,
        gb_latency_cycles=_value_or_none(cluster.gb_latency_cycles),
        link_latency_cycles=core.link_latency_cycles.value,
        launch_cycles=kernel.launch_cycles.value,
        barrier_cycles=kernel.barrier_cycles.value,
        split_capacity_bytes=None if split_capacity is None else split_capacity.value,
        channel_padding=core.channel_padding_elements.value,
        numbers=tuple(_entries(profile)),
        notes=tuple(profile.notes),
        matrix_depth=1 if core.matrix_depth is None else core.matrix_depth.value,
        shared_engine="none" if cluster.shared_engine is None else cluster.shared_engine.value,
        weight_placement=_placement(cluster.weight_placement),
        remote_dram_latency_cycles=None
        if chip.remote_dram_latency_cycles is None
        else chip.remote_dram_latency_cycles.value,
    )
    if split_capacity is None:
        capacity = _derived_capacity(hardware)
    else:
        capacity = _sourced(SPLIT_CAPACITY, split_capacity)
    return replace(hardware, numbers=_before_the_core(capacity, hardware.numbers))


def _placement(entry: Entry[Literal["replicated", "sharded"]] | None) -> str:
    """Weight placement; by default every LB has its own copy of a weight that it needs."""
    return "replicated" if entry is None else entry.value


def _value_or_none(entry: Entry[int] | None) -> int:
    """The entry's value; 0 if the chip has no such part."""
    return 0 if entry is None else entry.value


def _derived_capacity(hardware: Hardware) -> Sourced:
    """Split capacity derived from a chip's LBs."""
    source = "derived: data parts of a cluster's LBs (cores x LB data)"
    if hardware.is_pooled:
        source = "derived: a cluster's LBs without the weight part of each pool"
    value = memory_budget(hardware, DEFAULT_RULES).split_bytes
    return Sourced(SPLIT_CAPACITY, value, source, is_assumption=False)


def _before_the_core(capacity: Sourced, numbers: tuple[Sourced, ...]) -> tuple[Sourced, ...]:
    """The numbers with the split capacity as the cluster's last."""
    found = [number for number in numbers if number.key != SPLIT_CAPACITY]
    at = next(row for row, number in enumerate(found) if number.key.startswith("core."))
    return (*found[:at], capacity, *found[at:])


def _rates(rates: Rates) -> dict[str, int]:
    entries = {
        "fp32": rates.fp32,
        "fp16": rates.fp16,
        "bf16": rates.bf16,
        "int8": rates.int8,
    }
    return {number_format: entry.value for number_format, entry in entries.items()}


def _entries(model: BaseModel, prefix: str = "") -> Iterator[Sourced]:
    """Every entry below `model`, in the order of the schema."""
    for name in type(model).model_fields:
        value, key = getattr(model, name), f"{prefix}{name}"
        if isinstance(value, Entry):
            yield _sourced(key, value)
        elif isinstance(value, BaseModel):
            yield from _entries(value, f"{key}.")


def _sourced(key: str, entry: Entry[Any]) -> Sourced:
    value = entry.value
    plain = value.value if isinstance(value, Enum) else value
    number = plain if isinstance(plain, (int, float, str)) else str(plain)
    is_assumption = entry.source.startswith(ASSUMPTION)
    return Sourced(key, number, entry.source, is_assumption)
