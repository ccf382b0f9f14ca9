"""`python -m benchmarks.site [--to FOLDER]`: the documentation site, built without a network.

Fails, and leaves the site of before, where Sphinx warns or a link is dead. FOLDER is new, empty, or
has a site; another one is refused, as all in it would be removed.
"""

from __future__ import annotations

import argparse
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.site.builder import SITE, build
from benchmarks.site.dead_links import faults
from benchmarks.site.sources import write_sources

BUILT = ".buildinfo"
"""Sphinx writes it into every site."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Builds the site; returns 1, with a line per fault on stderr, where something is wrong."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--to", type=Path, default=SITE, help="folder of the site")
    site: Path = parser.parse_args(arguments).to
    if site.exists() and not (site / BUILT).is_file() and (site.is_file() or any(site.iterdir())):
        parser.error(f"{site} has other files than a site")
    with TemporaryDirectory() as folder:
        sources, built = Path(folder) / "sources", Path(folder) / "site"
        write_sources(sources)
        found = (*build(sources, built), *faults(built.resolve()))
        for line in found:
            print(line, file=sys.stderr)
        if found:
            return 1
        shutil.rmtree(site, ignore_errors=True)
        shutil.copytree(built, site)
    return 0


if __name__ == "__main__":
    sys.exit(main())
