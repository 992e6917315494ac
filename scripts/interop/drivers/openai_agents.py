# The MCP client of the OpenAI Agents SDK for Python, which lists the tools before each run.
import asyncio
import json
import sys

from agents.mcp import MCPServerSse, MCPServerStdio, MCPServerStreamableHttp

order = json.loads(sys.argv[1])


def server():
    if order["transport"] == "stdio":
        command, *args = order["command"]
        params = {"command": command, "args": args, "env": order["env"]}
        return MCPServerStdio(params=params, client_session_timeout_seconds=60)
    kind = MCPServerSse if order["transport"] == "sse" else MCPServerStreamableHttp
    return kind(params={"url": order["url"]}, client_session_timeout_seconds=60)


async def main():
    answers = []
    async with server() as connected:
        for task in order["tasks"]:
            tools = await connected.list_tools()
            if "tool" not in task:
                answers.append(sorted(tool.name for tool in tools))
                continue
            result = await connected.call_tool(task["tool"], task["args"] or None)
            answers.append("".join(part.text for part in result.content if part.type == "text"))
    print(json.dumps(answers))


asyncio.run(main())
