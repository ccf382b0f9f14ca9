"""verify: replay of a Program in Trace order on real numbers; reports say `ran: false` till then."""
