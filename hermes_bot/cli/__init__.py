"""The command line: `hermes-bot`, the same as `python -m hermes_bot`."""
