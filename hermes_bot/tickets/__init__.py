"""Tickets: what a customer wants, who owns it, and in which state it is."""
