"""The model planner: asks a language model for the next action, and believes nothing that it cannot check."""
