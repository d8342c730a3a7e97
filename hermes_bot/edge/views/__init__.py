"""Pure functions that return Block Kit."""
