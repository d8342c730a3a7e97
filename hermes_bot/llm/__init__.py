"""Clients of models: encoders of texts."""
