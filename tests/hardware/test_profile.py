"""Profiles that are refused, with the message; any bytes end in a chip or a refusal."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from graphturbo_core.errors import ProfileError
from graphturbo_core.hardware.hardware import Hardware
from graphturbo_core.hardware.profile import (
    PROFILE_YAML,
    PROFILES_FOLDER,
    load_profile,
    parse_profile,
)

TEXT = (PROFILES_FOLDER / "stcp920.yaml").read_text(encoding="utf-8")
CLOCK = "clock_hz: {value: 1000000000"
CLUSTERS = "clusters: {value: 4"


def refusal(data: bytes) -> ProfileError:
    with pytest.raises(ProfileError) as caught:
        parse_profile(data, "chip.yaml")
    line = caught.value.line()
    assert "\n" not in line
    assert "chip.yaml" in line
    return caught.value


def changed(old: str, new: str) -> bytes:
    assert old in TEXT
    return TEXT.replace(old, new, 1).encode()


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (CLUSTERS, "clusters: {value: 0", "chip.clusters is 0, in chip.yaml, write a whole number "
         "from 1 to 1024"),
        (CLOCK, "clock_hz: {value: -1", "chip.clock_hz is -1, in chip.yaml, write a whole number "
         "from 1000000 to 10000000000"),
        (CLOCK, "clock_hz: {value: 999999", "chip.clock_hz is 999999,"),
        (CLOCK, "clock_hz: {value: 1e12", "chip.clock_hz is 1e12, in chip.yaml, YAML 1.1 reads it "
         "as text: write 1.0e+12 or 1000000000000; write a whole number from 1000000 to"),
        (CLOCK, "clock_hz: {value: 2.5e9", "write 2.5e+9 or 2500000000"),
        (CLOCK, "clock_hz: {value: 1.5", "chip.clock_hz is 1.5"),
        (CLOCK, "clock_hz: {value: .nan", "chip.clock_hz is nan"),
        (CLOCK, "clock_hz: {value: -.inf", "chip.clock_hz is -inf"),
        (CLOCK, "clock_hz: {value: 9999999999999999999999", "chip.clock_hz is 99999999999"),
        (CLOCK, "clock_hz: {value: true", "chip.clock_hz is True"),
        (CLOCK, "clock_hz: {value: 1:30", "chip.clock_hz is 1:30"),
        (CLOCK, "clock_hz: {value: '7'", "take the quotes off"),
        (CLOCK, "clock_hz: {value: ", "chip.clock_hz is None"),
        (CLOCK, "clok_hz: {value: 1", "key chip.clok_hz is not known, in chip.yaml, remove or "
         "rename it (did you mean chip.clock_hz?)"),
        (CLUSTERS + ",", "clusters: {", "key chip.clusters.value is missing"),
        ("  clusters: {", "  # {", "key chip.clusters is missing, in chip.yaml, add it with its "
         "value and source"),
        ("name: stcp920\n", "", "key name is missing, in chip.yaml, add it"),
        ("name: stcp920", "name: Two Words", "name is Two Words"),
        ('title: "STCP920 (Stream Computing)"', "title: 920", "title is 920"),
        ("  clusters: {", "  clusters: 4 # {", "chip.clusters is 4, in chip.yaml, write {value: …, "
         "source: …}"),
        ("value: passes", "value: magic", "core.matrix_model is magic, in chip.yaml, write "
         "'passes', 'output-stationary'"),
        ('"published: 64 fp16 lanes"', '"assumption:"', "core.vector_lanes.source is assumption:, "
         "in chip.yaml, name a document or page, or write `assumption: why`"),
        (', source: "published: 64 fp16 lanes"', "", "key core.vector_lanes.source is missing"),
        ("\nkernel:", "\nchip:", "key chip appears twice"),
        ("gb_bytes: {value: 8388608", "gb_bytes: {value: 0",
         "cluster.gb_bandwidth_bytes_per_s is 256000000000 while cluster.gb_bytes is 0"),
        ("  gb_latency_cycles:\n    value: 40\n    source: \"assumption: no figure is published; "
         "on-chip SRAM across a cluster\"\n", "", "key cluster.gb_latency_cycles is missing"),
        ("dma_engines:\n    value: 2", "dma_engines:\n    value: 0",
         "cluster.dma_engines is 0 while there is a GB to fill"),
        ("\ncore:", "  shared_engine: {value: vector, source: datasheet}\ncore:",
         "a vector engine shared by the cores of a cluster is not supported yet"),
        ("\ncore:", "  weight_placement: {value: sharded, source: datasheet}\ncore:",
         "sharding weights over the LBs beside a GB is not supported yet"),
        ("\ncore:", "\ncore:\n  is_pooled: {value: true, source: datasheet}",
         "core.lb_weight_bytes is 262144 while core.is_pooled is true"),
        (CLUSTERS, "clusters: {value: &four 4", "line 10 uses an anchor or alias"),
        (CLUSTERS, "clusters: {value: *four", "line 10 uses an anchor or alias"),
        (CLUSTERS, "clusters: {value: !!int 4", "line 10 uses a tag"),
        ("name: stcp920", "extends: nothing", "extends is nothing, in chip.yaml, write one of "
         "stcp920, ascend910, generic-4x4, goya, ipu-gc2"),
        ("name: stcp920", "extends: stcp920-10mib", "extends is stcp920-10mib"),
        ("name: stcp920", "extends: ../stcp920", "extends is ../stcp920"),
    ],
)  # fmt: skip
def test_a_changed_profile_is_refused_by_name(old: str, new: str, message: str) -> None:
    assert message in str(refusal(changed(old, new)))


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "not a mapping of keys"),
        (b"hello", "not a mapping of keys"),
        (b"- 1\n- 2\n", "not a mapping of keys"),
        (b"a: b: c", "not YAML at line 1"),
        (b"a: \x01", "not YAML (unreadable characters)"),
        (b"\x08\x07\x12\xff", "byte 3 is not UTF-8 text"),
        (b"a: " + b"[" * 1000, "nests deeper than 8 levels"),
        (b"a: 1\n---\nb: 2\n", "starts a second document"),
        (b"? [a]\n: 1\n", "has a key that is not a word"),
        (b"#" * (PROFILE_YAML.max_bytes + 1), "larger than 65536 bytes"),
        (b'!!python/object/apply:os.getcwd ""', "uses a tag"),
    ],
)
def test_bytes_that_are_no_profile(data: bytes, message: str) -> None:
    assert message in str(refusal(data))


def test_a_refusal_carries_its_data() -> None:
    error = refusal(changed(CLUSTERS, "clusters: {value: 5000"))
    assert error.code == "PROFILE_INVALID"
    assert error.fields["file"] == "chip.yaml"
    assert error.fields["key"] == "chip.clusters"
    assert error.fields["value"] == 5000
    assert "1 to 1024" in str(error.fields["range"])


def test_a_long_or_hostile_value_is_repeated_in_short() -> None:
    error = refusal(changed(CLUSTERS, 'clusters: {value: "' + "x\\e" * 500 + '"'))
    assert len(error.line()) < 200
    assert error.line().isprintable()


def test_integral_floats_are_whole_numbers() -> None:
    chip = parse_profile(changed(CLOCK, "clock_hz: {value: 2.0e+9"), "chip.yaml")
    assert chip.clock_hz == 2 * 10**9


def test_an_upload_may_extend_a_shipped_chip() -> None:
    text = "extends: stcp920\nname: mine\nchip: {clusters: {value: 2, source: my board}}\n"
    chip, base = parse_profile(text.encode(), "mine.yaml"), load_profile("stcp920")
    assert (chip.name, chip.clusters, chip.clock_hz) == ("mine", 2, base.clock_hz)
    assert [n.source for n in chip.numbers if n.key == "chip.clusters"] == ["my board"]


def test_a_profile_is_read_from_a_path(tmp_path: Path) -> None:
    path = tmp_path / "copy.yaml"
    path.write_text(TEXT, encoding="utf-8")
    assert load_profile(str(path)) == load_profile("stcp920")


def test_a_profile_that_is_not_there() -> None:
    for name in ("nothing", "/", "a\0b", "x" * 5000):
        with pytest.raises(ProfileError, match=r"choose one of stcp920, .* or give a YAML file"):
            load_profile(name)


def test_a_huge_file_is_refused_unread(tmp_path: Path) -> None:
    path = tmp_path / "huge.yaml"
    with path.open("wb") as file:
        file.truncate(2**40)
    with pytest.raises(ProfileError, match=r"huge\.yaml"):
        load_profile(str(path))


def test_shipped_files_are_named_after_their_chip() -> None:
    for path in PROFILES_FOLDER.glob("*.yaml"):
        assert load_profile(path.stem).name == path.stem


SCALARS = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8)
TREES = st.recursive(
    SCALARS,
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5) | st.integers(), inner)
    ),
    max_leaves=12,
)


def chip_or_refusal(data: bytes) -> None:
    try:
        chip = parse_profile(data, "any.yaml")
    except ProfileError as error:
        assert re.match(r"error: [A-Z_]+: ", error.line())
    else:
        assert isinstance(chip, Hardware)


@given(st.binary(max_size=200) | st.text(max_size=200).map(lambda text: text.encode("utf-8")))
def test_any_bytes_are_a_chip_or_a_refusal(data: bytes) -> None:
    chip_or_refusal(data)


@given(TREES)
def test_any_yaml_is_a_chip_or_a_refusal(tree: object) -> None:
    chip_or_refusal(yaml.safe_dump(tree).encode())


@given(st.data())
def test_any_change_of_one_value_is_a_chip_or_a_refusal(data: st.DataObject) -> None:
    tree = yaml.safe_load(TEXT)
    section = data.draw(st.sampled_from(["chip", "cluster", "core", "kernel"]))
    key = data.draw(st.sampled_from(sorted(tree[section])))
    if data.draw(st.booleans()):
        tree[section][key] = data.draw(TREES)
    else:
        tree[section][key] = {"value": data.draw(TREES), "source": "a page"}
    chip_or_refusal(yaml.safe_dump(tree).encode())


@given(st.integers(0, len(TEXT) - 1), st.integers(0, 40), st.text(max_size=6))
def test_any_damage_is_a_chip_or_a_refusal(at: int, length: int, new: str) -> None:
    chip_or_refusal((TEXT[:at] + new + TEXT[at + length :]).encode())
