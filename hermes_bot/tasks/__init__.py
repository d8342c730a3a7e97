"""Work that one agent asks of others: delegated in parts, or requested from outside, and answered with a summary."""
