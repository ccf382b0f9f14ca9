"""A page with the graph view of two stored reports, for benchmarks/browser_graph.py."""

if __name__ == "__main__":
    import os
    from pathlib import Path

    import streamlit as st

    from graphturbo_core.report.report import Report
    from graphturbo_ui.components.graph import GRAPH
    from graphturbo_ui.figures.canvases import graph_bytes

    folder = Path(os.environ["GRAPHTURBO_BENCHMARK_REPORTS"])
    reports = [Report.from_bytes((folder / f"{name}.npz").read_bytes()) for name in "AB"]
    st.set_page_config(layout="wide")
    GRAPH.draw(graph_bytes(*reports))
