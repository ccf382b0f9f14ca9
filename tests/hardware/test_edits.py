"""Typed texts at a profile's keys: what they mean, what is refused, and what is written."""

from __future__ import annotations

import pytest
import yaml

from graphturbo_core.errors import ProfileError
from graphturbo_core.hardware.edits import (
    edit_chip,
    editable_keys,
    read_value,
    value_text,
    values_of,
)
from graphturbo_core.hardware.profile import parse_profile, profile_names

LB, GB = "core.lb_data_bytes", "cluster.gb_bytes"
GB_PORT, GB_LATENCY = "cluster.gb_bandwidth_bytes_per_s", "cluster.gb_latency_cycles"


@pytest.mark.parametrize(
    ("key", "text", "value"),
    [
        (LB, "384 KiB", 384 * 1024),
        (LB, "1.25 MiB", 1_310_720),
        (LB, "393216", 393_216),
        (LB, " 393,216 B ", 393_216),
        (LB, "2k", 2_000),
        ("cluster.dram_bandwidth_bytes_per_s", "27 GB/s", 27 * 10**9),
        ("chip.clock_hz", "1.6 GHz", 1_600_000_000),
        ("core.is_pooled", "true", True),
        ("core.matrix_model", "passes", "passes"),
        ("cluster.split_capacity_bytes", "", None),
        (LB, "0.5", "0.5"),
        (LB, "-1", "-1"),
        (LB, "1e6", "1e6"),
        (LB, "٣", "٣"),
        (LB, "9" * 60, "9" * 60),
    ],
)
def test_a_text_gives_a_value_or_stays_a_text(key: str, text: str, value: object):
    found = read_value(key, text)
    assert found == value
    assert type(found) is type(value)


@pytest.mark.parametrize(
    ("key", "value", "text"),
    [
        (LB, 393_216, "384 KiB"),
        (LB, 1_310_720, "1.25 MiB"),
        (LB, 53_084_160, "50.625 MiB"),
        (LB, 1_000, "1000 B"),
        ("cluster.gb_bandwidth_bytes_per_s", 27_500_000_000, "27.5 GB/s"),
        ("chip.clusters", 4, "4"),
        ("core.is_pooled", False, "false"),
        (LB, None, ""),
    ],
)
def test_the_shortest_exact_text(key: str, value: object, text: str):
    assert value_text(key, value) == text


@pytest.mark.parametrize("name", profile_names())
def test_every_value_is_read_back_from_its_text(name: str):
    values = values_of(name, None)
    assert list(values) == list(editable_keys())
    for key, value in values.items():
        assert read_value(key, value_text(key, value)) == value, key
    unchanged = edit_chip(name, None, {key: value_text(key, v) for key, v in values.items()})
    assert unchanged.changes == {}
    assert unchanged.hardware == parse_profile(unchanged.data, name)
    assert unchanged.hardware.name == name


def test_an_edit_is_written_with_its_source():
    edited = edit_chip("stcp920", None, {LB: "384 KiB"})
    assert edited.changes == {LB: 393_216}
    assert edited.hardware.lb_data_bytes == 393_216
    assert edited.hardware.name == "stcp920-edited"
    assert yaml.safe_load(edited.data)["core"]["lb_data_bytes"] == {
        "value": 393_216,
        "source": "assumption: edited in the app, was 1 MiB",
    }
    number = next(each for each in edited.hardware.numbers if each.key == LB)
    assert number.is_assumption


def test_the_texts_order_does_not_matter():
    texts = {"core.matrix_depth": "2", LB: "384 KiB", "core.is_pooled": "false"}
    again = dict(reversed(texts.items()))
    assert list(edit_chip("stcp920", None, texts).changes) == list(texts)
    assert edit_chip("stcp920", None, texts).data == edit_chip("stcp920", None, again).data


@pytest.mark.parametrize("keys", [(LB, "chip.clusters"), ("chip.clusters", LB)])
def test_a_refused_edit_is_left_out_and_the_others_stay(keys: tuple[str, str]):
    typed = {LB: "384 KiB", "chip.clusters": "abc"}
    edited = edit_chip("generic-4x4", None, {key: typed[key] for key in keys})
    assert edited.changes == {LB: 393_216}
    assert list(edited.faults) == ["chip.clusters"]
    fault = edited.faults["chip.clusters"]
    assert fault.what == "chip.clusters is abc"
    assert fault.change == "write a whole number from 1 to 1024"
    assert edited.waiting == {}


def test_a_refusal_of_another_key_has_the_latest_edit_wait():
    edited = edit_chip("generic-4x4", None, {LB: "384 KiB", GB: "0"})
    assert edited.changes == {LB: 393_216}
    assert list(edited.faults) == [GB_PORT]
    assert edited.waiting == {GB: GB_PORT}
    whole = edit_chip("generic-4x4", None, {GB: "0", GB_PORT: "", GB_LATENCY: ""})
    assert whole.faults == whole.waiting == {}
    assert not whole.hardware.has_gb
    assert GB_PORT not in {number.key for number in whole.hardware.numbers}


def test_a_key_that_was_left_out_can_be_given():
    edited = edit_chip("generic-4x4", None, {"core.matrix_depth": "4"})
    assert edited.hardware.matrix_depth == 4
    source = yaml.safe_load(edited.data)["core"]["matrix_depth"]["source"]
    assert source == "assumption: edited in the app, was not given"


def test_an_empty_text_of_a_needed_key_is_refused():
    edited = edit_chip("generic-4x4", None, {"core.vector_lanes": ""})
    assert edited.changes == {}
    assert "key core.vector_lanes is missing" in str(edited.faults["core.vector_lanes"])


def test_a_profile_that_is_refused_as_it_is_cannot_be_edited():
    with pytest.raises(ProfileError, match="key chip is missing"):
        edit_chip("mine.yaml", b"name: mine\ntitle: Mine\n", {})


def test_ranges_are_the_schema_s():
    keys = editable_keys()
    assert keys["chip.clusters"].bounds == (1, 1024)
    assert keys["core.is_pooled"].choices == ("false", "true")
    assert keys["core.matrix_model"].choices[0] == "passes"
    assert keys["core.matrix_depth"].is_optional
    assert not keys[LB].is_optional
