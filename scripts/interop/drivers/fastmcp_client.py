# A client of FastMCP.
import asyncio
import json
import sys

from fastmcp import Client
from fastmcp.client.transports import SSETransport, StdioTransport, StreamableHttpTransport

order = json.loads(sys.argv[1])


def transport():
    if order["transport"] == "stdio":
        command, *args = order["command"]
        return StdioTransport(command=command, args=args, env=order["env"], keep_alive=False)
    return (SSETransport if order["transport"] == "sse" else StreamableHttpTransport)(order["url"])


async def main():
    answers = []
    async with Client(transport(), mode="auto" if order["era"] == "modern" else "legacy") as client:
        for task in order["tasks"]:
            if "tool" not in task:
                answers.append(sorted(tool.name for tool in await client.list_tools()))
                continue
            given = [task["args"]] if task["args"] else []
            result = await client.call_tool(task["tool"], *given)
            answers.append("".join(part.text for part in result.content if part.type == "text"))
    print(json.dumps(answers))


asyncio.run(main())
