"""Stage -> tiling: how a core's share is cut, and what each tile needs."""
