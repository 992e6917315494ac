"""An agent that labels the issues about a topic."""

from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client


async def triage(server: StdioServerParameters, topic: str) -> list[str]:
    async with stdio_client(server) as (read, write), ClientSession(read, write) as session:
        await session.initialize()
        said = []
        for name, args in [
            ("search_issues", {"query": topic}),
            ("add_label", {"id": 7, "label": "urgent"}),
            ("add_label", {"id": 9, "label": "later"}),
        ]:
            result = await session.call_tool(name, args)
            said.append(result.content[0].text)
        return said
