// A client of either SDK of TypeScript that makes one call, which is held. It has the timeout that the SDK gives it.
import { Client as ClientV2, StreamableHTTPClientTransport as HttpV2 } from '@modelcontextprotocol/client'
import { StdioClientTransport as StdioV2 } from '@modelcontextprotocol/client/stdio'
import { Client as ClientV1 } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport as StdioV1 } from '@modelcontextprotocol/sdk/client/stdio.js'
import { StreamableHTTPClientTransport as HttpV1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js'

const { sdk, command, url, wantsProgress } = JSON.parse(process.argv[2])
const [Client, Stdio, Http] = sdk === 'v1' ? [ClientV1, StdioV1, HttpV1] : [ClientV2, StdioV2, HttpV2]
const [file, ...args] = command ?? []
const transport =
  url === undefined
    ? new Stdio({ command: file, args, env: process.env, stderr: 'ignore' })
    : new Http(new URL(url))
const client = new Client({ name: 'held', version: '1' }, { capabilities: {} })
await client.connect(transport)
let progress = 0
const options = wantsProgress ? { onprogress: () => progress++, resetTimeoutOnProgress: true } : {}
const params = { name: 'echo', arguments: { message: 'still there' } }
const call = sdk === 'v1' ? client.callTool(params, undefined, options) : client.callTool(params, options)
const result = await call.then(
  ({ content }) => ({ text: content[0]?.text }),
  (error) => ({ error: String(error.message) }),
)
console.log(JSON.stringify({ ...result, progress }))
await client.close()
process.exit(0)
