"""Outcome -> the flat rows and arrays that pages, charts and JSON show, one file per table."""
