"""What a visitor's session runs: page config and navigation; worker processes import it again."""

if __name__ == "__main__":
    from pathlib import Path

    import streamlit as st

    from graphturbo_ui.frame import begin, framed
    from graphturbo_ui.pages import explore, verification

    icon = Path(__file__).parents[1] / "icon.svg"
    st.set_page_config("GraphTurbo Explorer", icon, layout="wide")
    pages = [
        st.Page(framed(explore.show), title="Explore", url_path="explore", default=True),
        st.Page(framed(verification.show), title="Verification", url_path="verification"),
    ]
    chosen = st.navigation(pages, position="top")
    if begin():
        chosen.run()
