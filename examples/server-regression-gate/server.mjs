// The server under test: a small shop.
import { randomUUID } from 'node:crypto'
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js'
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js'
import { z } from 'zod'

const PRICES = { tea: 4.5, milk: 1.2 }
const carts = new Map()
const server = new McpServer({ name: 'shop', version: '1.0.0' })
const result = (value) => ({
  content: [{ type: 'text', text: JSON.stringify(value) }],
  structuredContent: value,
})

const annotations = { readOnlyHint: true }
server.registerTool(
  'price',
  { description: 'The price of an item.', inputSchema: { item: z.string() }, annotations },
  ({ item }) => result({ item, price: PRICES[item] ?? null, at: new Date().toISOString() }),
)
server.registerTool(
  'add_to_cart',
  { description: 'Puts an item into a new cart.', inputSchema: { item: z.string() } },
  ({ item }) => {
    const cart = randomUUID()
    carts.set(cart, [item])
    return result({ cart })
  },
)
server.registerTool(
  'total',
  { description: 'The price of a cart.', inputSchema: { cart: z.string() }, annotations },
  ({ cart }) => {
    const items = carts.get(cart)
    if (items === undefined) throw new Error(`there is no cart ${cart}`)
    return result({ total: items.reduce((sum, item) => sum + PRICES[item], 0) })
  },
)
await server.connect(new StdioServerTransport())
