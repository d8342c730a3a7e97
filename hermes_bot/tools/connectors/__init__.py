"""Tools that other systems bring: databases with named operations, and MCP servers."""
