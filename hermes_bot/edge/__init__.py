"""The edge: everything that speaks to Slack, and nothing else does."""
