# A client of the Python SDK, 1.x or 2.x. It leaves out the arguments of a tool that has none, as people write it.
import asyncio
import json
import sys
from contextlib import asynccontextmanager

import mcp
from mcp.client.sse import sse_client
from mcp.client.stdio import StdioServerParameters, stdio_client

order = json.loads(sys.argv[1])


def transport():
    if order["transport"] == "stdio":
        command, *args = order["command"]
        return stdio_client(StdioServerParameters(command=command, args=args, env=order["env"]))
    if order["transport"] == "sse":
        return sse_client(order["url"])
    from mcp.client import streamable_http

    open_http = getattr(streamable_http, "streamable_http_client", None)
    return (open_http or streamable_http.streamablehttp_client)(order["url"])


@asynccontextmanager
async def connected():
    if hasattr(mcp, "Client"):
        async with mcp.Client(transport(), mode="auto" if order["era"] == "modern" else "legacy") as client:
            yield client
        return
    async with transport() as streams:
        async with mcp.ClientSession(streams[0], streams[1]) as session:
            await session.initialize()
            yield session


async def main():
    answers = []
    async with connected() as client:
        for task in order["tasks"]:
            if "tool" not in task:
                answers.append(sorted(tool.name for tool in (await client.list_tools()).tools))
                continue
            given = [task["args"]] if task["args"] else []
            result = await client.call_tool(task["tool"], *given)
            answers.append("".join(part.text for part in result.content if part.type == "text"))
    print(json.dumps(answers))


asyncio.run(main())
