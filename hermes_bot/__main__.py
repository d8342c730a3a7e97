"""`python -m hermes_bot` is the same as `hermes-bot`."""

from hermes_bot.cli.main import main

if __name__ == "__main__":
    main()
