"""What-if in headless Chromium: the further models, uploads among them, and their links."""

from __future__ import annotations

import re
from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import expect

from graphturbo_core.frontend.catalogue import load_sample
from tests.ui.app_server import AppPage
from tests.ui.axe import serious_faults
from tests.ui.browser.what_if.what_if_page import heading, open_page, settle

pytestmark = pytest.mark.browser

SIZES = "ask=Smallest+LB+and+GB"
CHIPS = ".st-key-models_box :is([data-tag], [data-baseweb=tag])"
"""What is chosen in the box of further models."""
TWO_MODELS = "models=teaching-resnet&models=dlrm&lb_values=128,256&gb_values=1,2"


def models_of(visit: AppPage) -> list[str]:
    """What the address names as further models."""
    return parse_qs(urlsplit(visit.page.url).query).get("models", [])


def upload_model(visit: AppPage, name: str, more: bytes = b"") -> str:
    """Give a file to the uploader of the bar; its label, which the address then has."""
    visit.page.locator(".st-key-bar_model").get_by_test_id("stPopoverButton").click()
    file = {"name": name, "mimeType": "", "buffer": load_sample("teaching-resnet") + more}
    before = visit.page.url
    visit.page.locator(".st-key-model_file input[type=file]").set_input_files(file)  # type: ignore[arg-type]
    visit.page.wait_for_url(lambda url: url != before and f"model={name}+%28" in url)
    return parse_qs(urlsplit(visit.page.url).query)["model"][0]


def choose_model(visit: AppPage, name: str) -> None:
    """Pick one more of the further models."""
    box = visit.page.locator(".st-key-models_box").get_by_role("combobox")
    box.fill(name)
    visit.page.get_by_role("option", name=name, exact=True).click()
    visit.page.keyboard.press("Escape")


def test_uploads_are_shown_by_name_and_found_again_by_their_digests(visit: AppPage) -> None:
    open_page(visit, f"{SIZES}&lb_values=128,256&gb_values=1,2")
    first = upload_model(visit, "net.onnx")
    second = upload_model(visit, "net.onnx", b"\x12\x01x")  # another producer_name, same graph
    assert first != second
    settle(visit)
    chips = visit.page.locator(CHIPS)
    for name, labels, names in (
        ("net.onnx", [first], ["net.onnx"]),
        ("net.onnx (2)", [first, second], ["net.onnx", "net.onnx (2)"]),
    ):
        choose_model(visit, name)
        expect(chips).to_have_text(names)
        visit.page.wait_for_function(
            "(count) => new URLSearchParams(location.search).getAll('models').length === count",
            arg=len(labels),
        )
        assert models_of(visit) == labels
        settle(visit)
        heading(visit, re.compile("of the speed of (all 2 models|net.onnx): "))
    visit.await_link("models=net.onnx+%28")
    digests = [label[-17:-1] for label in (first, second)]
    for theme in visit.in_both_themes():
        visit.shoot(f"what-if-uploads-{theme}")
        said = visit.page.locator("[data-testid=stMain]").inner_text()
        assert [digest for digest in digests if digest in said] == []
        assert serious_faults(visit) == []
    visit.page.goto(visit.page.url)  # a new session
    settle(visit)
    assert models_of(visit) == [first, second]
    expect(chips).to_have_count(2)
    heading(visit, re.compile("all 2 models"))


def test_back_and_forward_undo_and_repeat_a_choice_of_models(visit: AppPage) -> None:
    open_page(visit, f"{SIZES}&lb_values=128,256&gb_values=1,2")
    label = upload_model(visit, "net.onnx")
    settle(visit)
    chips = visit.page.locator(CHIPS)
    begun = visit.page.evaluate("history.length")
    for count, name in enumerate(("net.onnx", "dlrm"), 1):
        choose_model(visit, name)
        settle(visit)
        visit.page.wait_for_function("(length) => history.length === length", arg=begun + count)
    assert models_of(visit) == [label, "dlrm"]
    for turn, names in (
        ("go_back", ["net.onnx"]), ("go_back", []), ("go_forward", ["net.onnx"]),
        ("go_forward", ["net.onnx", "dlrm"]),
    ):  # fmt: skip
        getattr(visit.page, turn)()
        expect(chips).to_have_text(names)
        settle(visit)


def test_models_are_there_again_after_another_question_and_another_page(visit: AppPage) -> None:
    open_page(visit, f"{SIZES}&{TWO_MODELS}")
    for name in ("What would help most", "Smallest LB and GB"):
        visit.page.get_by_role("radio", name=name).click()
        settle(visit)
        is_asked = name == "Smallest LB and GB"
        visit.page.wait_for_function(
            "(count) => new URLSearchParams(location.search).getAll('models').length === count",
            arg=2 if is_asked else 0,
        )
        asked = parse_qs(urlsplit(visit.page.url).query)["ask"]
        assert asked == [name]
    visit.turn_to("Explore", "Time breakdown")
    visit.turn_to("What-if", re.compile("all 2 models"))  # type: ignore[arg-type]
    settle(visit)
    visit.await_link("models=teaching-resnet&models=dlrm")
    assert models_of(visit) == ["teaching-resnet", "dlrm"]
