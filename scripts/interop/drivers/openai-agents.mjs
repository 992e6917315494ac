// The MCP client of the OpenAI Agents SDK.
import { MCPServerSSE, MCPServerStdio, MCPServerStreamableHttp } from '@openai/agents'
import { answer } from './answers.mjs'

await answer(async ({ transport, command, env, url }) => {
  const [file, ...args] = command ?? []
  const server =
    transport === 'stdio'
      ? new MCPServerStdio({ command: file, args, env })
      : new (transport === 'sse' ? MCPServerSSE : MCPServerStreamableHttp)({ url })
  await server.connect()
  return {
    list: async () => (await server.listTools()).map(({ name }) => name),
    call: async (tool, given) => {
      await server.listTools()
      return server.callTool(tool, given)
    },
    close: () => server.close(),
  }
})
