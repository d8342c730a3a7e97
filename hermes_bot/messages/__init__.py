"""The envelope that travels on the bus, and the typed data inside it."""
