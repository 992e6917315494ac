// Stands in for the remote server: `node server.mjs <port>`. Its tool fails for one city.
import { createServer } from 'node:http'
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js'
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js'
import { z } from 'zod'

const http = createServer(async (request, response) => {
  const server = new McpServer({ name: 'weather', version: '1.0.0' })
  server.registerTool('forecast', { inputSchema: { city: z.string() } }, ({ city }) => {
    if (city === 'Bergen') throw new Error('upstream says 503')
    return { content: [{ type: 'text', text: `sunny in ${city}` }] }
  })
  const transport = new StreamableHTTPServerTransport({ sessionIdGenerator: undefined })
  response.on('close', () => void transport.close())
  await server.connect(transport)
  await transport.handleRequest(request, response)
})
http.listen(Number(process.argv[2] ?? 0), '127.0.0.1', () => {
  console.log(`http://127.0.0.1:${http.address().port}/mcp`)
})
