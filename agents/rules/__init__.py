"""The rules planners: deterministic, without a model."""
