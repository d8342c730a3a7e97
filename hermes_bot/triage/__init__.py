"""Routing corrections: what staff say a message should have been becomes, once an admin agrees, an utterance."""
