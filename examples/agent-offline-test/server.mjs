// The server of an issue tracker. Only the first run of the test needs it.
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js'
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js'
import { z } from 'zod'

const ISSUES = [
  { id: 7, title: 'Login fails with a long password', comments: 4 },
  { id: 9, title: 'Login page is slow', comments: 1 },
]
const server = new McpServer({ name: 'issues', version: '1.0.0' })
const text = (value) => ({ content: [{ type: 'text', text: JSON.stringify(value) }] })

server.registerTool('search_issues', { inputSchema: { query: z.string() } }, ({ query }) =>
  text(ISSUES.filter(({ title }) => title.toLowerCase().includes(query.toLowerCase()))),
)
server.registerTool('add_label', { inputSchema: { id: z.number(), label: z.string() } }, ({ id, label }) =>
  text({ id, label, at: new Date().toISOString() }),
)
await server.connect(new StdioServerTransport())
