"""verify: replay of a Program on real numbers; until then reports say `ran: false`."""
