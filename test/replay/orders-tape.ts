import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import { fixtureServer, REELAY } from '../support/recorder.ts'

/** Records a session in which the client sends back what the server made up. */
export async function recordOrders(tape: string): Promise<void> {
  const client = new Client({ name: 'shopper', version: '1' })
  const args = [REELAY, 'record', '-o', tape, '--', ...fixtureServer('orders')]
  await client.connect(new StdioClientTransport({ command: process.execPath, args, stderr: 'ignore' }))
  await client.listTools()
  const created = await client.callTool({ name: 'create_order', arguments: { item: 'milk' } })
  const { order } = created.structuredContent as { order: { id: string } }
  await client.callTool({ name: 'get_order', arguments: { orderId: order.id } }, undefined, {
    onprogress: () => {},
  })
  await client.callTool({ name: 'describe', arguments: {} })
  await client.close()
}
