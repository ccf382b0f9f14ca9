"""Piece counts and orders of the samples against the published ones."""

from __future__ import annotations

import pytest

from graphturbo_core.products.plan import Plan
from tests.strategies.chains import PUBLISHED
from tests.strategies.samples import hardware, plan_of, sample_plan, sample_semantics

RESNETS = ("resnet50-v1", "resnet50-v15", "resnet50-slim")


def after_the_stem(plan: Plan) -> list[int]:
    return [group.pieces for group in plan.groups[1:]]


@pytest.mark.parametrize("model", RESNETS)
def test_resnets_in_8_4_2_1_pieces(model: str) -> None:
    plan = sample_plan(model, 16)
    assert after_the_stem(plan) == [8, 4, 2, 1]
    assert plan.notes == ()
    check_samples_alone_are_cut(plan)


@pytest.mark.parametrize("model", RESNETS)
def test_resnets_of_10_mib_in_more_pieces(model: str) -> None:
    """With 10 MiB Algorithm 1 merges more, and a core holds 1 MiB of activations all the same."""
    plan = sample_plan(model, 16, profile="stcp920-10mib")
    is_finer = model != "resnet50-v15"
    assert after_the_stem(plan) == ([8, 8, 4, 2] if is_finer else [8, 4, 2, 1])
    assert len(plan.notes) == (3 if is_finer else 0)
    check_samples_alone_are_cut(plan)


def check_samples_alone_are_cut(plan: Plan) -> None:
    assert {group.split_axis for group in plan.groups} == {0}
    assert all(group.covered_ops == len(group.ops) for group in plan.groups)


@pytest.mark.parametrize("model", RESNETS)
def test_order_is_the_published_one(model: str) -> None:
    plan = sample_plan(model, 16)
    letters = dict(zip(["g2", "g3", "g4", "g5"], "abcd", strict=True))
    order = [k.name.split("/") for k in plan.kernels if not k.name.startswith("g1/")]
    assert " ".join(letters[group] + piece for group, piece in order) == PUBLISHED
    assert [step.run for step in plan.ready_steps] == [k.name for k in plan.kernels]


def test_identity_blocks_fill_the_local_buffers() -> None:
    """Two images of stage 1: input and result 56 * 56 * 256, between them 56 * 56 * 64 values."""
    plan = sample_plan("resnet50-slim", 16)
    image_bytes = 56 * 56 * (256 + 256 + 64) * 2
    assert plan.groups[1].peak_bytes == 16 * image_bytes
    fits = {d.subject[0]: d.numbers for d in plan.decisions if d.step == "fit"}
    # Over eight cores: 882 KiB of 1,024 (reference, 3.1).
    assert fits["g2"]["core_bytes"] == 2 * image_bytes // 8 == 882 * 1024


def test_without_the_block_step_groups_multiply() -> None:
    # "Equal counts only" leaves 34-39 groups (reference, 3.2); rule 2 alone does a little better.
    sem = sample_semantics("resnet50-slim", 16)
    plan = plan_of(sem, "graphturbo", hardware(), {"graphturbo.blocks": "none"})
    assert len(plan.groups) > 20


def test_mobilenet_has_about_13_groups() -> None:
    assert 11 <= len(sample_plan("mobilenet-v2", 32).groups) <= 15


def test_densenet_is_far_coarser_than_its_layers() -> None:
    # Our layers: concatenations chained block by block. Some 30 groups is our own estimate.
    plan = sample_plan("densenet-121", 8)
    assert len(plan.groups) <= 30 < len(plan.layers)


def test_teaching_network_fits_at_once_on_the_large_chip() -> None:
    plan = sample_plan("teaching-resnet", 16)
    assert [k.name for k in plan.kernels] == ["g1/1"]
    assert plan.groups[0].pieces == 1
