"""docs/json-contract.md: written from the types, and true of a run's JSON."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

import pytest

from benchmarks.site import contract_page
from benchmarks.site.contract_types import RUN, keys
from graphturbo_core.frontend.catalogue import load_sample
from graphturbo_core.pipeline import RunRequest, run_report
from graphturbo_core.report.json_form import json_form


def test_the_page_is_what_the_command_writes() -> None:
    assert contract_page.main(["--check"]) == 0


def test_a_key_without_words_is_found() -> None:
    found = keys()
    more = replace(found[0], name="tide")
    with pytest.raises(ValueError, match="tide"):
        contract_page.check([*found, more])
    with pytest.raises(ValueError, match="schema"):
        contract_page.check(found[1:])


def keys_in(section: str, entry: Mapping[str, object]) -> Iterator[tuple[str, str]]:
    """Section and name of every key of a run's JSON, as far as the page names sections."""
    known = {key.name for key in keys() if key.section == section and "](#" in key.type_text}
    for name, value in entry.items():
        yield section, name
        nested = value[0] if isinstance(value, list | tuple) and value else value
        if name in known and isinstance(nested, Mapping):
            yield from keys_in(name, nested)


def test_a_run_has_exactly_the_keys_of_the_page() -> None:
    asked = RunRequest("teaching-resnet", "graphturbo@16", "generic-4x4", 64, verify=True)
    found = set(keys_in(RUN, json_form(run_report(load_sample("teaching-resnet"), asked))))
    listed = {(key.section, key.name) for key in keys()}
    optional = {(key.section, key.name) for key in keys() if key.is_optional}
    faults = {pair for pair in listed if pair[0] == "fault"}
    assert found <= listed
    assert listed - found <= optional | faults
    assert ("groups", "further_splits") in optional
