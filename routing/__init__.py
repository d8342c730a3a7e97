"""Routing: text in, choice out."""
