# One small server on the Python SDK 1.x, the Python SDK 2.x or FastMCP, whichever is installed: python_server.py <transport> <port>
import sys

transport, port = sys.argv[1], int(sys.argv[2])
address = {"host": "127.0.0.1", "port": port}
try:
    from fastmcp import FastMCP

    server, options = FastMCP("interop"), {"show_banner": False, **(address if transport != "stdio" else {})}
except ImportError:
    try:
        from mcp.server import MCPServer

        server, options = MCPServer("interop"), (address if transport != "stdio" else {})
    except ImportError:
        from mcp.server.fastmcp import FastMCP

        server, options = FastMCP("interop", **address), {}


@server.tool()
def echo(message: str) -> str:
    """Repeats a message."""
    return f"Echo: {message}"


@server.tool()
def add(a: float, b: float) -> str:
    """Adds two numbers."""
    return f"The sum is {a + b}"


@server.tool()
def knock() -> str:
    """Takes no arguments."""
    return "Who is there?"


server.run(transport={"http": "streamable-http"}.get(transport, transport), **options)
