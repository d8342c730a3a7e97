"""Memory in three layers: working (per ticket and agent), long-term (facts of one owner), blackboard (per ticket)."""
