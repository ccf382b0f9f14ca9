"""What every Program and Trace must keep, whatever the times turn out to be."""
