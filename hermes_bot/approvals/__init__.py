"""Approvals: a privileged tool call waits here for the right person's click."""
