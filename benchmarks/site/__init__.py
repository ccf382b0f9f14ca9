"""The documentation site: `python -m benchmarks.site` builds `site/` from `docs/`, offline.

Files in data-flow order:

- `places.py`: which page of the site each source becomes, and links between them.
- `navigation.py`: docs/README.md is the site's first page and its one table of contents.
- `glossary_page.py`: terms of ARCHITECTURE.md's glossary, their places in docs/concepts.
- `how_to.py`: CONTRIBUTING.md's examples as pages on which every step can be seen.
- `contract_types.py`, `contract_words.py`, `contract_page.py`: docs/json-contract.md.
- `sources.py`: all sources as one folder of Markdown for Sphinx.
- `builder.py`: Sphinx with its settings; a warning is an error.
- `dead_links.py`: links of the built pages that lead nowhere or to a network.
"""
