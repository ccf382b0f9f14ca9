"""GraphTurbo Explorer: the server, which is warm before its first visitor comes."""

from pathlib import Path

import streamlit as st

from graphturbo_ui.server import startup
from graphturbo_ui.server.help_pages import help_routes

script = Path(startup.__file__).with_name("script.py")
app = st.App(script, lifespan=startup.warmed, routes=help_routes())
