"""Beyond the paper: other groupings, further axes, several clusters, weights that stay in GB."""
