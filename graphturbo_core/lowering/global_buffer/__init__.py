"""What lies in GB and DRAM at which address, from which kernel to which."""
