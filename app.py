"""GraphTurbo Explorer: the server, which is warm before its first visitor comes."""

from pathlib import Path

import streamlit as st

from graphturbo_ui.server import startup

app = st.App(Path(startup.__file__).with_name("script.py"), lifespan=startup.warmed)
