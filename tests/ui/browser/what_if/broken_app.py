"""The app with workers that meet a bug; workers import the file that begins the server."""

from pathlib import Path

import streamlit as st

from graphturbo_core.remote import process
from graphturbo_ui.server import startup
from graphturbo_ui.server.help_pages import help_routes
from tests.ui.browser.what_if import broken_worker

begin = process.WorkerProcess.__init__
process.WorkerProcess.__init__ = lambda self, _: begin(self, broken_worker.main)

script = Path(startup.__file__).with_name("script.py")
app = st.App(script, lifespan=startup.warmed, routes=help_routes())
