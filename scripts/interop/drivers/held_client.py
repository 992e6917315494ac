# A client of the Python SDK, 1.x or 2.x, that makes one call, which is held. Without progress it waits 60 seconds.
import asyncio
import json
import sys
from datetime import timedelta

import mcp
from mcp.client.stdio import StdioServerParameters, stdio_client

order = json.loads(sys.argv[1])
progress = 0


async def on_progress(*_):
    global progress
    progress += 1


def transport():
    if "url" not in order:
        command, *args = order["command"]
        return stdio_client(StdioServerParameters(command=command, args=args, env=order["env"]))
    from mcp.client import streamable_http

    open_http = getattr(streamable_http, "streamable_http_client", None)
    return (open_http or streamable_http.streamablehttp_client)(order["url"])


async def call(session):
    arguments = {"message": "still there"}
    if order["wantsProgress"]:
        return await session.call_tool("echo", arguments, progress_callback=on_progress)
    limit = timedelta(seconds=60)
    try:
        return await session.call_tool("echo", arguments, read_timeout_seconds=limit)
    except TypeError:
        return await session.call_tool("echo", arguments, read_timeout_seconds=60)


async def main():
    async with transport() as streams:
        async with mcp.ClientSession(streams[0], streams[1]) as session:
            await session.initialize()
            try:
                result = await call(session)
                answer = {"text": result.content[0].text}
            except Exception as error:
                answer = {"error": str(error)}
            print(json.dumps({**answer, "progress": progress}), flush=True)


asyncio.run(main())
