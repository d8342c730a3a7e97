"""Hermes: a self-hosted triage desk that lives in Slack."""

__version__ = "0.1.0"
