"""The agents: each reads a message and writes messages; none knows another, none touches Slack."""
