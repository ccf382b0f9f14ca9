"""What a visitor's session runs: page config and navigation; worker processes import it again."""

if __name__ == "__main__":
    from pathlib import Path

    import streamlit as st

    from graphturbo_ui.frame import begin, framed
    from graphturbo_ui.pages import explore, verification

    icon = Path(__file__).parents[1] / "icon.svg"
    st.set_page_config("GraphTurbo Explorer", icon, layout="wide")
    explored = framed(explore.show)
    listed = [
        st.Page(explored, title="Explore", url_path="start", default=True),
        st.Page(framed(verification.show), title="Verification", url_path="verification"),
    ]
    # Streamlit serves the default page at the root alone, whatever its path is.
    named = st.Page(explored, title="Explore", url_path="explore")
    chosen = st.navigation([*listed, named], position="hidden")
    if begin(listed):
        chosen.run()
