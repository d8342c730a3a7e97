"""The order book, the refund policy and the tools that agents may use."""
