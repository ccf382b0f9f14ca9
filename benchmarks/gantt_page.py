"""A page with one Gantt chart of 500,000 generated instructions, for browser_gantt.py."""

if __name__ == "__main__":
    import streamlit as st

    from graphturbo_core.report.canvases.gantt_canvas import gantt_buffer
    from graphturbo_ui.components.gantt import GANTT
    from tests.ui.synthetic import synthetic_report

    @st.cache_resource
    def buffer(cores: int) -> bytes:
        """The chart's bytes, made once: only the display is measured."""
        return gantt_buffer(synthetic_report(layers=60, cores=cores, instructions=500_000))

    st.set_page_config(layout="wide")
    GANTT.draw(buffer(int(st.query_params.get("cores", "8"))))
