"""What a visitor's session runs: page config and navigation; worker processes import it again."""

if __name__ == "__main__":
    from pathlib import Path

    import streamlit as st

    from graphturbo_ui.frame import begin, framed
    from graphturbo_ui.pages import (
        chips,
        compare,
        explore,
        learn,
        paper,
        schedulers,
        verification,
        what_if,
    )

    icon = Path(__file__).parents[1] / "icon.svg"
    st.set_page_config("GraphTurbo Explorer", icon, layout="wide")
    explored = framed(explore.show)
    first = st.Page(explored, title="Explore", url_path="start", default=True)
    listed = [
        first,
        st.Page(framed(compare.page_to(first)), title="Compare", url_path="compare"),
        st.Page(framed(schedulers.show), title="Schedulers", url_path="schedulers"),
        st.Page(framed(learn.show, keeps_points=True), title="Learn", url_path="learn"),
        st.Page(framed(chips.show), title="Chips", url_path="chips"),
        st.Page(framed(what_if.show, keeps_points=True), title="What-if", url_path="what-if"),
        st.Page(framed(paper.show), title="Paper", url_path="paper"),
        st.Page(framed(verification.show), title="Verification", url_path="verification"),
    ]
    # Streamlit serves the default page at the root alone, whatever its path is.
    named = st.Page(explored, title="Explore", url_path="explore")
    chosen = st.navigation([*listed, named], position="hidden")
    if begin(listed):
        chosen.run()
