"""A page with 500,000 generated instructions, for browser_gantt.py: Gantt chart or first screen."""

if __name__ == "__main__":
    import streamlit as st

    from graphturbo_core.report.report import Report
    from graphturbo_ui.components.gantt import GANTT
    from graphturbo_ui.components.sources import OVERVIEW
    from graphturbo_ui.figures.canvases import gantt_bytes, overview_bytes
    from tests.ui.synthetic import synthetic_report

    def report(cores: int, count: int) -> Report:
        """A generated report of so many instructions."""
        return synthetic_report(layers=60, layers_per_group=15, cores=cores, instructions=count)

    @st.cache_resource
    def buffer(cores: int, count: int, *, is_gantt: bool) -> bytes:
        """The picture's bytes, made once: only the display is measured."""
        pack = gantt_bytes if is_gantt else overview_bytes
        return pack(report(cores, count))

    st.set_page_config(layout="wide")
    cores, count = (int(st.query_params.get(key, "8")) for key in ("cores", "count"))
    if st.query_params.get("what") == "overview":
        OVERVIEW.draw(buffer(cores, count, is_gantt=False))
    else:
        GANTT.draw(buffer(cores, count, is_gantt=True))
