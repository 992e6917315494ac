// The shop as an MCP server over stdio: node server.mjs <name of a bug, or none> [delay in ms]
import { createInterface } from 'node:readline'
import { BUGS, Shop, TOOLS } from './shop.mjs'

const [name, delay = '0'] = process.argv.slice(2)
const bug = BUGS.find((each) => each.name === name) ?? { needs: [{ tool: 'never', own: true }] }
const shop = new Shop(bug)

createInterface({ input: process.stdin }).on('line', async (line) => {
  const { id, method, params } = JSON.parse(line)
  if (id === undefined) return
  if (Number(delay) > 0) await new Promise((resolve) => void setTimeout(resolve, Number(delay)))
  process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', id, result: await resultOf(method, params) })}\n`)
})

async function resultOf(method, params) {
  if (method === 'initialize')
    return {
      protocolVersion: params.protocolVersion,
      capabilities: { tools: {} },
      serverInfo: { name: 'shop', version: '1.0.0' },
    }
  if (method === 'tools/list') return { tools: TOOLS }
  return method === 'tools/call' ? shop.call(params.name, params.arguments) : {}
}
