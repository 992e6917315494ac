// Repeats what it is told, in a notification, on stderr and in the result.
import { createInterface } from 'node:readline'

for await (const line of createInterface({ input: process.stdin })) {
  const { id, params } = JSON.parse(line)
  const { text } = params.arguments
  const data = { jsonrpc: '2.0', method: 'notifications/message', params: { level: 'info', data: text } }
  process.stderr.write(`${text}\n`)
  process.stdout.write(`${JSON.stringify(data)}\n`)
  const result = { content: [{ type: 'text', text }] }
  process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', id, result })}\n`)
}
