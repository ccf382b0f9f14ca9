"""Reports -> sentences and tables: which of two runs is faster, and why.

- `at_work.py`: the clusters that have samples, and how busy their engines are.
- `measures.py`: the figures that are compared.
- `alone.py`: busy time of one kind of engine alone.
- `equal_batches.py`: the ratio at equal cluster batches.
- `binding_change.py`: what binds a run, and the number of the chip behind it.
- `kept_replays.py`: the kept replay of a Program, in words.
- `note_places.py`: the figure of the verdict that each note is about, and notes that are alike.
- `verdict.py`: the deciding figures, B's change against A, one sentence on why.
- `text.py`, `verify_text.py`: tables for a terminal; the verification in words.
"""
