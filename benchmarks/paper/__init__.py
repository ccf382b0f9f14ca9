"""The paper's ten configurations: run, compared with what is published, written as a page."""
