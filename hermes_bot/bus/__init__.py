"""The bus: publish, deliver, settle."""
