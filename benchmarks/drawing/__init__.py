"""Numbers -> tables of words and SVG figures for the pages under docs/."""
