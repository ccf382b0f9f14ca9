"""Uploaded files, kept by their sha256 for an hour: bounded, never listed."""

from __future__ import annotations

import hashlib
import threading
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from time import monotonic

import streamlit as st

KEPT_SECONDS = 3600.0
"""How long an upload is kept after its last use (our choice: a lesson)."""
DIGEST_LENGTH = 16
"""Hexadecimal digits of the sha256 that name a file: 64 bits, as in a link."""
MAX_KEPT_BYTES = 512 * 2**20
"""All uploads together; the least recently used goes first."""


@dataclass(frozen=True, slots=True)
class Upload:
    """A file somebody uploaded: its own name, its bytes with their digest, and its last use."""

    name: str
    data: bytes = field(repr=False)
    sha256: str
    used_s: float


@dataclass
class UploadStore:
    """Files by sha256. `clock` gives seconds that never go back."""

    clock: Callable[[], float]
    max_bytes: int = MAX_KEPT_BYTES
    kept_seconds: float = KEPT_SECONDS
    _files: OrderedDict[str, Upload] = field(default_factory=OrderedDict, repr=False)
    _lock: threading.Lock = field(default_factory=threading.Lock, repr=False)

    def put(self, name: str, data: bytes) -> str:
        """Keep a file and give its digest; older files make room."""
        sha256 = hashlib.sha256(data).hexdigest()
        digest = sha256[:DIGEST_LENGTH]
        with self._lock:
            self._files[digest] = Upload(name, data, sha256, self.clock())
            self._files.move_to_end(digest)
            self._drop_old()
        return digest

    def get(self, digest: str) -> Upload | None:
        """The file of that digest, or None when it was never here or is gone."""
        with self._lock:
            self._drop_old()
            found = self._files.get(digest)
            if found is None:
                return None
            self._files[digest] = replace(found, used_s=self.clock())
            self._files.move_to_end(digest)
            return found

    def _drop_old(self) -> None:
        """Forget what is too old, then the least recently used until the rest fits."""
        now = self.clock()
        for digest in [d for d, u in self._files.items() if now - u.used_s > self.kept_seconds]:
            del self._files[digest]
        while sum(len(u.data) for u in self._files.values()) > self.max_bytes and self._files:
            self._files.popitem(last=False)


@st.cache_resource(show_spinner=False)
def upload_store() -> UploadStore:
    """The server's one store of uploads."""
    return UploadStore(monotonic)
