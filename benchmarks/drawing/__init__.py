"""Numbers -> text tables and SVG figures for the pages under docs/; pictures of the app."""
