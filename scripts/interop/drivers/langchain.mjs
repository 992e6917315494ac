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
      if (typeof result === 'string') return [{ type: 'text', text: result }]
      return Array.isArray(result) ? result : [result] // one part, with the structured output in it
    },
    close: () => client.close(),
  }
})
