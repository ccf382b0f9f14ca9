"""The app in headless Chromium: what a visitor sees and does, with no error anywhere."""

from __future__ import annotations

import json
import struct
from collections.abc import Callable

import onnx
import pytest
from onnx import TensorProto, helper
from playwright.sync_api import Browser, expect

from graphturbo_core.errors import ModelError
from graphturbo_core.frontend.importer import read_input_dims
from graphturbo_ui.components import gantt, graph
from graphturbo_ui.components.sources import Canvas
from graphturbo_ui.figures.canvases import gantt_bytes, graph_bytes
from tests.ui.app_server import PATIENCE_MS, AppPage
from tests.ui.synthetic import synthetic_report

pytestmark = pytest.mark.browser
expect.set_options(timeout=PATIENCE_MS)

GANTT, GRAPH = gantt.GANTT.role, graph.GRAPH.role
SMALL = "?model=teaching-resnet&batch=8&views=Graph&views=Every+core"
ALL = f"{SMALL}&views=Why&views=Memory"
NASTY = "<img src=x onerror=alert(1)> **bold** :smile:"


def nasty_model() -> bytes:
    """Two convolutions and an add whose names carry markup."""
    nodes = [
        helper.make_node("Conv", ["x", "w"], ["a"], f"{NASTY} 1", kernel_shape=[1, 1]),
        helper.make_node("Relu", ["a"], ["b"], f"{NASTY} 2"),
        helper.make_node("Add", ["b", "x"], ["y"], f"{NASTY} 3"),
    ]
    shape = ["batch", 8, 16, 16]
    graph = helper.make_graph(
        nodes,
        NASTY,
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, shape)],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, shape)],
        [helper.make_tensor("w", TensorProto.FLOAT, [8, 8, 1, 1], [0.1] * 64)],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    return model.SerializeToString()


def cyclic_model() -> bytes:
    """Two ops, each of which needs the other's result."""
    nodes = [
        helper.make_node("Add", ["x", "b"], ["a"], "first"),
        helper.make_node("Relu", ["a"], ["b"], "second"),
    ]
    ends = [helper.make_tensor_value_info(n, TensorProto.FLOAT, [1, 8]) for n in ("x", "b")]
    graph = helper.make_graph(nodes, "cycle", ends[:1], ends[1:])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    return model.SerializeToString()


def drop(visit: AppPage, place: str, name: str, data: bytes) -> None:
    """Give a file to the uploader in `place`."""
    chooser = visit.page.locator(f"{place} input[type=file]")
    chooser.set_input_files({"name": name, "mimeType": "application/octet-stream", "buffer": data})


def upload_model(visit: AppPage, name: str, data: bytes) -> None:
    with visit.box("model") as body:
        drop(visit, "[data-testid=stPopoverBody]", name, data)
        expect(visit.page.get_by_role("button", name=f"Model {name}", exact=True)).to_be_visible()
        expect(body, "it would cover the run's progress").to_have_count(0)


@pytest.mark.parametrize("visit", ["light"], indirect=True)
def test_the_default_sample_is_there_with_all_views(visit: AppPage, request):
    views = ("Why", "Graph", "Every core", "Memory", "Algorithms")
    visit.open("?" + "&".join(f"views={view}" for view in views))
    page = visit.page
    for title in ("Time breakdown", *views):
        expect(page.get_by_role("heading", name=title, exact=True)).to_be_visible()
    why = page.locator(".st-key-view_why")
    expect(why.get_by_text("of its critical path goes to").first).to_be_visible()
    expect(page.get_by_test_id("stMetric")).to_have_count(8)
    expect(page.locator(".js-plotly-plot .bars").first).to_be_visible()
    graph = visit.scene(GRAPH)
    assert [pane["title"] for pane in graph["panes"]] == ["tvm@16", "graphturbo@16"]
    assert graph["panes"][0]["groups"] > graph["panes"][1]["groups"]
    gantt = visit.scene(GANTT)
    assert all(pane["instructions"] > 1000 for pane in gantt["panes"])
    page.wait_for_timeout(500)
    is_dark = request.node.callspec.params["visit"] == "dark"
    visit.shoot("explore-dark" if is_dark else "explore-light")
    corner = visit.canvas(GANTT).evaluate(
        "c => [...c.getContext('2d').getImageData(c.width - 3, c.height - 3, 1, 1).data]"
    )
    assert (sum(corner[:3]) < 3 * 60) == is_dark


def test_both_runs_are_verified_on_their_own_page(visit: AppPage):
    """The page is reached from Explore; asked for once, the replay shows on both pages."""
    visit.open(f"{SMALL}&views=Why")
    page = visit.page
    visit.turn_to("Verification", "What a replay checks")
    page.get_by_role("button", name="Verify A and B").click()
    for strategy in ("tvm@16", "graphturbo@16"):
        badge = page.get_by_text(f"{strategy}: verified against ONNX Runtime")
        expect(badge).to_be_visible()
    assert "verify=true" in page.url
    visit.turn_to("Explore", "Graph")
    badge = page.get_by_text("A: verified, B: verified")
    expect(badge).to_be_visible()


def test_another_chip_and_back_by_swapping(visit: AppPage):
    visit.open(SMALL)
    visit.choose("Chip", "generic-4x4")
    visit.await_command("--profile generic-4x4")
    visit.settle()
    assert "chip=generic-4x4" in visit.page.url
    with visit.box("run_a") as body:
        body.get_by_role("button", name="Swap A and B").click()
    visit.await_command("--strategies graphturbo@16,tvm@16")
    visit.await_scene(GANTT, "scene.panes[0].title === 'graphturbo@16'")


def test_a_link_restores_what_it_names(visit: AppPage):
    query = "?model=teaching-resnet&chip=generic-4x4&a=layerwise&b=tvm&batch=16&dtype=int8"
    visit.open(f"{query}&views=Every+core&window=100-900,100-900")
    assert visit.command() == (
        "python -m graphturbo_core compare teaching-resnet --profile generic-4x4 "
        "--strategies layerwise,tvm --batch 16 --dtype int8"
    )
    assert visit.scene(GANTT)["windows"][0] == {"t0": 100, "t1": 900}


def test_a_link_that_names_nothing_is_answered_calmly(visit: AppPage):
    visit.open("?model=<b>x</b>&chip=nope&a=tvm@x&batch=-3&dtype=fp1")
    for word in ("<b>x</b>", "nope", "tvm@x", "-3", "fp1"):
        expect(visit.page.get_by_text(f"“{word}”")).to_be_visible()
    assert "resnet50-slim --profile stcp920 --strategies tvm@16,graphturbo@16" in visit.command()


def test_notes_on_a_link_are_closed_for_good_and_move_nothing(visit: AppPage):
    """The link has faults of all kinds; opening it leaves only the older version in its address."""
    visit.open("?model=nope&chip=none&b=foo&views=bar&version=0.0.1")
    notes, page = visit.page.locator(".st-key-link_notes"), visit.page
    expect(notes).to_contain_text("“bar” is not a view")
    picture = page.locator(".overview").first
    before = picture.bounding_box()
    notes.get_by_role("button", name="Close").click()
    expect(notes).to_have_count(0)
    visit.settle()
    assert picture.bounding_box() == before
    visit.open(f"?{page.url.partition('?')[2]}")
    expect(notes).to_have_count(0)
    assert picture.bounding_box() == before


def test_an_uploaded_model_is_shown_with_its_names_as_text(visit: AppPage):
    visit.open(SMALL)
    upload_model(visit, "my <net>.onnx", nasty_model())
    visit.await_command("compare 'my <net>.onnx'")
    visit.settle()
    canvas = visit.canvas(GRAPH)
    visit.page.get_by_role("button", name="expand all").click()
    box = next(box for box in visit.scene(GRAPH)["panes"][0]["boxes"] if box)
    canvas.hover(position={"x": box["x"] + 20, "y": box["y"] + 12})
    canvas.click(position={"x": box["x"] + 20, "y": box["y"] + 12})
    expect(visit.page.get_by_text("<img src=x onerror=alert(1)>").first).to_be_visible()
    assert visit.page.locator("img[src='x']").count() == 0
    visit.shoot("uploaded-names")


def test_bad_models_get_calm_answers_and_the_app_goes_on(visit: AppPage):
    visit.open(SMALL)
    bad = {
        "empty": b"",
        "random": b"\x00\xff\x13garbage" * 40,
        "text": b"just a text file\n",
        "truncated": nasty_model()[:150],
    }
    with visit.box("model") as body:
        for name, data in bad.items():
            drop(visit, "[data-testid=stPopoverBody]", f"{name}.onnx", data)
            with pytest.raises(ModelError) as refused:
                read_input_dims(data)
            said = body.get_by_test_id("stAlert").filter(has_text=f"Code {refused.value.code}")
            expect(said).to_contain_text(f"This is not an ONNX model: {name}.onnx")
            visit.settle()
        drop(visit, "[data-testid=stPopoverBody]", "notes.txt", b"just a text file\n")
        said = body.get_by_test_id("stAlert").filter(has_text="not an ONNX model: notes.txt")
        expect(said).to_contain_text("the name does not end in .onnx".capitalize())
    visit.settle()
    assert "teaching-resnet" in visit.command()


def test_a_refused_run_leaves_the_app_usable(visit: AppPage):
    visit.open(SMALL)
    upload_model(visit, "cycle.onnx", cyclic_model())
    expect(visit.page.get_by_test_id("stAlert").filter(has_text="Code")).to_be_visible()
    visit.choose("Model", "teaching-resnet")
    visit.await_command("compare teaching-resnet")
    visit.settle()


def test_a_bad_chip_gets_a_calm_answer(visit: AppPage):
    visit.open(SMALL)
    with visit.box("chip") as body:
        bad = b"name: x\nchip: {clusters: -1}\n"
        drop(visit, "[data-testid=stPopoverBody]", "bad.yaml", bad)
        expect(body.get_by_test_id("stAlert").filter(has_text="Code")).to_be_visible()
    assert "stcp920" in visit.command()


def test_the_page_names_every_canvas_for_those_who_do_not_see_it(visit: AppPage):
    visit.open(ALL)
    for name in (GANTT, GRAPH):
        canvas = visit.canvas(name)
        assert canvas.get_attribute("role") == "application"
        assert "A" in (canvas.get_attribute("aria-label") or "")
        assert canvas.get_attribute("tabindex") == "0"
    for table in ("sub-graphs", "memory", "instructions"):
        visit.page.get_by_text(f"Table of {table}").click()
    expect(visit.page.get_by_test_id("stDataFrame")).to_have_count(3)
    assert onnx.load_model_from_string(nasty_model()).graph.name == NASTY


CALL_OUT_OF_ORDER = """async ([script, html, buffers]) => {
  const url = URL.createObjectURL(new Blob([script], { type: "text/javascript" }));
  const { default: show } = await import(url);
  document.body.innerHTML = html;
  for (const numbers of buffers) {
    const data = new Uint8Array(numbers);
    show({ data, parentElement: document.body, setStateValue: () => {} });
  }
}"""


@pytest.mark.parametrize(
    ("pack", "canvas"),
    [(gantt_bytes, gantt.GANTT), (graph_bytes, graph.GRAPH)],
)
def test_a_canvas_keeps_to_what_was_sent_last(
    browser: Browser, pack: Callable[..., bytes], canvas: Canvas
):
    one, two = synthetic_report(), synthetic_report("graphturbo@16")
    sent = [pack(one, two) + struct.pack("<d", 2.0), pack(one) + struct.pack("<d", 1.0)]
    page = browser.new_page()
    page.evaluate(
        CALL_OUT_OF_ORDER,
        [canvas.js(), canvas.html(), [list(data) for data in sent]],
    )
    page.wait_for_selector("canvas[data-ready]")
    scene = json.loads(page.locator("canvas").get_attribute("data-scene"))
    assert [pane["title"] for pane in scene["panes"]] == ["tvm@2", "graphturbo@16"]
    page.close()


MORE_RUNS_BEFORE_A_FRAME = """async ([script, html, buffers]) => {
  const url = URL.createObjectURL(new Blob([script], { type: "text/javascript" }));
  const { default: show } = await import(url);
  document.body.innerHTML = html;
  const [one, both] = buffers.map((numbers) => new Uint8Array(numbers));
  const wait = (ms) => new Promise((done) => setTimeout(done, ms));
  const canvas = document.querySelector("canvas");
  const draw = (data) => show({ data, parentElement: document.body, setStateValue: () => {} });
  draw(one);
  while (!canvas.dataset.scene) await wait(5);
  const frames = canvas.dataset.frames;
  draw(one);
  while (canvas.dataset.frames === frames) await wait(1);
  const soon = window.requestAnimationFrame;
  window.requestAnimationFrame = (call) => setTimeout(call, 300);
  draw(both);
  await wait(150);
  window.requestAnimationFrame = soon;
}"""


def test_a_scene_waits_for_the_frame_of_its_runs(browser: Browser):
    one, two = synthetic_report(), synthetic_report("graphturbo@16")
    stamp = struct.pack("<d", 1.0)
    sent = [graph_bytes(one) + stamp, graph_bytes(one, two) + stamp]
    page, errors = browser.new_page(), []
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.evaluate(
        MORE_RUNS_BEFORE_A_FRAME,
        [
            graph.GRAPH.js(),
            graph.GRAPH.html(),
            [list(data) for data in sent],
        ],
    )
    page.wait_for_function(
        "() => JSON.parse(document.querySelector('canvas').dataset.scene).panes.length === 2"
    )
    assert errors == []
    page.close()
