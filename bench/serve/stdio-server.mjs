// The official server on stdio.
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js'
import { echoServer } from './echo-server.mjs'

await echoServer().connect(new StdioServerTransport())
