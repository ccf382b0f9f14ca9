"""What strategies share: instances of groups, their kernels, binding, places and weights."""
