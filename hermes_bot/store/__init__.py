"""The store: SQL for what must outlive a process."""
