"""The server of an issue tracker. Only the first run of the test needs it."""

from mcp.server import MCPServer

server = MCPServer("issues")


@server.tool()
def search_issues(query: str) -> str:
    return f"2 issues about {query}: #7, #9"


@server.tool()
def add_label(id: int, label: str) -> str:
    return f"#{id} is {label}"


if __name__ == "__main__":
    server.run()
