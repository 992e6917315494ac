// The MCP client of Mastra.
import { MCPClient } from '@mastra/mcp'
import { answer } from './answers.mjs'

await answer(async ({ transport, command, env, url }) => {
  const [file, ...args] = command ?? []
  const subject = transport === 'stdio' ? { command: file, args, env } : { url: new URL(url) }
  const client = new MCPClient({ id: 'interop', servers: { subject }, timeout: 60_000 })
  const tools = await client.listTools()
  return {
    list: async () => Object.keys(tools).map((name) => name.replace(/^subject_/, '')),
    call: async (tool, given) => {
      const result = await tools[`subject_${tool}`].execute(given, {})
      // A tool with structured output gives that instead of its content.
      return result.content ?? [{ type: 'text', text: result.result }]
    },
    close: () => client.disconnect(),
  }
})
