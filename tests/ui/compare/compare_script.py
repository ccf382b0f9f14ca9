"""The app with Compare as its first page: AppTest opens no other page of functions."""

if __name__ == "__main__":
    import streamlit as st

    from graphturbo_ui.frame import begin, framed
    from graphturbo_ui.pages import compare, explore

    explored = st.Page(framed(explore.show), title="Explore", url_path="explore")
    shown = framed(compare.page_to(explored))
    listed = [st.Page(shown, title="Compare", url_path="compare", default=True), explored]
    chosen = st.navigation(listed, position="hidden")
    if begin(listed):
        chosen.run()
