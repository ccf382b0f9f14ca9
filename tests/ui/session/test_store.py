"""Uploads: kept by digest for a while, bounded, least recently used first."""

from __future__ import annotations

import hashlib

from graphturbo_ui.store import UploadStore


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


def test_a_file_is_found_by_the_digest_of_its_bytes():
    store = UploadStore(Clock())
    digest = store.put("a.onnx", b"abc")
    assert digest == hashlib.sha256(b"abc").hexdigest()[:16]
    found = store.get(digest)
    assert found is not None
    assert (found.name, found.data) == ("a.onnx", b"abc")
    assert store.get("0" * 16) is None


def test_a_file_goes_an_hour_after_its_last_use():
    clock = Clock()
    store = UploadStore(clock)
    digest = store.put("a.onnx", b"abc")
    clock.now = 3600.0
    assert store.get(digest) is not None
    clock.now = 7200.0
    assert store.get(digest) is not None
    clock.now = 10800.5
    assert store.get(digest) is None


def test_the_least_recently_used_makes_room():
    store = UploadStore(Clock(), max_bytes=10)
    first, second = store.put("1", b"1111"), store.put("2", b"2222")
    store.get(first)
    store.put("3", b"3333")
    assert store.get(second) is None
    assert store.get(first) is not None


def test_a_file_above_the_cap_is_not_kept():
    store = UploadStore(Clock(), max_bytes=3)
    assert store.get(store.put("big", b"1234")) is None
