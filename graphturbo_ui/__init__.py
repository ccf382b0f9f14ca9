"""GraphTurbo Explorer's pages: they see Reports, never a Graph, Plan, Program or Trace.

- `glossary.py`, `text.py`, `palette.py`: terms for tooltips, names made safe, colours.
- `top_bar/`: every choice of the page, as one value; `sizes.py`: sizes that a model proposes.
- `refusals.py`: why a run or a file was refused.
- `runs.py`, `jobs.py`: runs and who waits for them; worker processes and the one cache.
- `feeding.py`: many runs of one session, a few at a time: for Compare and What-if.
- `store.py`: files by their sha256, for an hour: uploads, and what pages write.
- `stored_runs.py`: the default comparison's reports, shown while a new server's workers warm up.
- `frame.py`: around every page: session, refusals, waiting; `progress.py`: the bar of a run.
- `beside/`: runs beside A and B: at equal cluster batches, on a changed chip, a search.
- `paper/`, `compare/`, `learn/`, `schedulers/`, `what_if/`, `replays/`: parts of one page each;
  `measured/`: measured times beside simulated ones.
- `shown.py`, `charts.py`: figures made once per run; Plotly figures with selections.

A page waits for the first run, draws it, waits for the other, and is drawn again. Reports are
cached per run, so a change of B computes only B. Two workers serve two jobs at a time. The runs of
one job follow each other, so B waits for A and the other worker serves the next visitor. A refusal,
a bug, a report above the cap or ten minutes end one run alone. If its worker is lost, the rest of
the job continues in a new one.

Three rules follow from Streamlit 1.67. While a script runs, Streamlit shows old elements that are
not drawn over. So an optional part has a place of its own (`shown.nothing`). `st.stop` is not used:
it drops clicks that came while the script ran. Views are not fragments: two quick runs of a
fragment lose small messages or blank the page.
"""
