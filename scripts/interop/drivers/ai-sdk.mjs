// The MCP client of the AI SDK, which has transports of its own.
import { createMCPClient } from '@ai-sdk/mcp'
import { Experimental_StdioMCPTransport as Stdio } from '@ai-sdk/mcp/mcp-stdio'
import { answer } from './answers.mjs'

await answer(async ({ transport, command, env, url }) => {
  const [file, ...args] = command ?? []
  const client = await createMCPClient({
    transport: transport === 'stdio' ? new Stdio({ command: file, args, env }) : { type: transport, url },
    onUncaughtError: () => {},
  })
  return {
    list: async () => (await client.listTools()).tools.map(({ name }) => name),
    call: async (tool, given) => {
      const tools = await client.tools()
      return (await tools[tool].execute(given, { toolCallId: '1', messages: [] })).content
    },
    close: () => client.close(),
  }
})
