"""A page with one Gantt chart of 300,000 generated instructions, for benchmarks/app.py."""

if __name__ == "__main__":
    import streamlit as st

    from graphturbo_core.report.gantt_canvas import gantt_buffer
    from graphturbo_ui.components.gantt import gantt_chart
    from tests.ui.synthetic import synthetic_report

    @st.cache_resource
    def buffer() -> bytes:
        """The chart's bytes, made once: only the way to the screen is measured."""
        return gantt_buffer(synthetic_report(layers=60, cores=8, instructions=300_000))

    st.set_page_config(layout="wide")
    gantt_chart(buffer(), key="gantt")
