"""Each kernel by itself: lower bounds over orders, earliest starts, load of engines and DRAM."""
