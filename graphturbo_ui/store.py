"""Uploaded files, kept by their sha256 for an hour: bounded, never listed."""

from __future__ import annotations

import hashlib
import threading
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from time import monotonic

import streamlit as st

KEPT_SECONDS = 3600.0
"""How long an upload is kept after its last use (our choice: a lesson)."""
DIGEST_LENGTH = 16
"""Hexadecimal digits of the sha256 that name a file: 64 bits, as in a link."""
MAX_KEPT_BYTES = 512 * 2**20
"""All uploads together; the least recently used goes first."""
MAX_WRITTEN_BYTES = 64 * 2**20
"""All files together that pages write by themselves; they make no upload go."""
MAX_OWN_BYTES = 16 * 2**20
"""Files that one session has the pages write: twice the largest comparison (our choice)."""


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
    _lock: threading.RLock = field(default_factory=threading.RLock, repr=False)

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

    def put_own(self, name: str, data: bytes, before: Sequence[str]) -> tuple[str, tuple[str, ...]]:
        """Keep a file of a session that wrote those `before`; its digest, and what it wrote.

        The session's oldest files go where its own are more than `MAX_OWN_BYTES`. A file that
        another session wrote is never its own.
        """
        with self._lock:
            known = set(self._files)
            digest = self.put(name, data)
            own = [each for each in before if each in self._files and each != digest]
            if digest in before or digest not in known:
                own.append(digest)
            while len(own) > 1 and sum(len(self._files[d].data) for d in own) > MAX_OWN_BYTES:
                del self._files[own.pop(0)]
        return digest, tuple(own)

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


@st.cache_resource(show_spinner=False)
def written_store() -> UploadStore:
    """The server's store of what pages write by themselves, such as comparisons."""
    return UploadStore(monotonic, MAX_WRITTEN_BYTES)
