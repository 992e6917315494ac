// The MCP adapters of LangChain.
import { MultiServerMCPClient } from '@langchain/mcp-adapters'
import { answer } from './answers.mjs'

await answer(async ({ transport, command, env, url }) => {
  const [file, ...args] = command ?? []
  const subject =
    transport === 'stdio'
      ? { transport, command: file, args, env }
      : { transport, url, reconnect: { enabled: false } }
  const client = new MultiServerMCPClient({ mcpServers: { subject } })
  const tools = await client.getTools()
  return {
    list: async () => tools.map(({ name }) => name),
    call: async (tool, given) => {
      const result = await tools.find(({ name }) => name === tool).invoke(given)
      if (Array.isArray(result)) return result
      // A tool with structured output gives that instead of its text.
      return [{ type: 'text', text: typeof result === 'string' ? result : String(result.result) }]
    },
    close: () => client.close(),
  }
})
