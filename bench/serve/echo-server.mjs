// The official server with one trivial tool.
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js'
import { z } from 'zod'
import { RESULT } from './calls.mjs'

export function echoServer() {
  const server = new McpServer({ name: 'bench', version: '1' })
  const inputSchema = { text: z.string(), n: z.number(), options: z.object({}).loose() }
  server.registerTool('echo', { inputSchema }, () => RESULT)
  return server
}
