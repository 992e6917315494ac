// A server of shopping lists over stdio with one seeded bug, which needs a state: node lists.mjs <name of a bug, or none>
import { randomUUID } from 'node:crypto'
import { createInterface } from 'node:readline'

/** The bugs. Half of the servers name their lists by number, which a generator can guess. */
export const BUGS = [
  'remove-twice',
  'add-after-close',
  'close-when-empty',
  'close-twice',
  'stale-list',
  'item-of-other-list',
  'cancelled-export',
  'export-at-once',
  'more-than-stock',
  'page-after-remove',
  'odd-name-in-export',
  'discount-before-price',
]

const id = { type: 'string', minLength: 1 }
const number = { type: 'integer', minimum: 1 }
const object = (properties, required = Object.keys(properties)) => ({ type: 'object', properties, required })

export function toolsOf(bug) {
  const list = BUGS.indexOf(bug) % 2 === 0 ? { ...id, format: 'uuid' } : number
  return [
    tool('create_list', object({ name: { type: 'string', maxLength: 80 } }), object({ list })),
    tool('add_item', object({ list, name: id, quantity: number }), object({ item: number })),
    tool(
      'set_price',
      object({ list, item: number, price: { type: 'number', minimum: 0 } }),
      object({ price: { type: 'number' } }),
    ),
    tool(
      'discount',
      object({ list, percent: { type: 'number', minimum: 0, maximum: 100 } }),
      object({ total: { type: 'number' } }),
    ),
    tool(
      'take',
      object({ list, item: number, quantity: number }),
      object({ left: { type: 'integer', minimum: 0 } }),
    ),
    tool('remove_item', object({ list, item: number }), object({ items: { type: 'integer', minimum: 0 } })),
    tool(
      'page',
      object({ list, from: { type: 'integer', minimum: 0 } }),
      object({ names: { type: 'array', items: { type: 'string' } } }),
    ),
    tool(
      'rename',
      object({ list, name: { type: 'string', maxLength: 80 } }),
      object({ name: { type: 'string' } }),
    ),
    tool('export', object({ list }), object({ text: { type: 'string' } })),
    tool('close', object({ list }), object({ average: { type: 'number' } })),
    tool('show', object({ list }), object({ items: { type: 'integer', minimum: 0 } }), true),
  ]
}

function tool(name, inputSchema, outputSchema, readOnlyHint = false) {
  return {
    name,
    description: name.replace('_', ' '),
    inputSchema,
    outputSchema,
    annotations: { readOnlyHint },
  }
}

class Refused extends Error {}

class Lists {
  #lists = new Map()
  #bug
  #exports = 0

  constructor(bug) {
    this.#bug = bug
  }

  async call(name, given, cancelled) {
    if (name === 'create_list') {
      const list = BUGS.indexOf(this.#bug) % 2 === 0 ? randomUUID() : this.#lists.size + 1
      this.#lists.set(list, { name: given.name, items: [], stock: new Map(), isClosed: false })
      return { list }
    }
    const list = this.#lists.get(given.list)
    if (list === undefined && this.#bug === 'stale-list')
      throw new Error(`no list\n    at Lists.find (/srv/lists/node_modules/lists/store.js:41:11)`)
    if (list === undefined) throw new Refused(`there is no list ${given.list}`)
    if (list.isClosed && this.#bug === 'close-twice' && name === 'close') return new Promise(() => {})
    if (list.isClosed && this.#bug === 'add-after-close' && name === 'add_item')
      return list.open.push(given.name)
    if (list.isClosed) throw new Refused('the list is closed')
    return this.#callList(name, given, list, cancelled)
  }

  async #callList(name, given, list, cancelled) {
    const item = given.item === undefined ? undefined : this.#itemOf(list, given.item)
    switch (name) {
      case 'add_item':
        list.items.push({ id: this.#nextItem(), name: given.name, left: given.quantity, price: undefined })
        return { item: list.items.at(-1).id }
      case 'set_price':
        item.price = given.price
        return { price: given.price }
      case 'discount': {
        const prices = list.items.map(({ price }) => price)
        if (prices.includes(undefined) && this.#bug !== 'discount-before-price')
          throw new Refused('an item has no price')
        return { total: prices.reduce((sum, price) => sum + price, 0) * (1 - given.percent / 100) }
      }
      case 'take':
        if (item.left < given.quantity && this.#bug !== 'more-than-stock')
          throw new Refused('there are not enough')
        item.left -= given.quantity
        return { left: item.left }
      case 'remove_item':
        if (item.isRemoved && this.#bug === 'remove-twice') process.exit(1)
        if (item.isRemoved) throw new Refused('the item is removed')
        item.isRemoved = true
        list.hasRemoved = true
        if (this.#bug !== 'remove-twice') list.items = list.items.filter((each) => each !== item)
        return { items: list.items.filter(({ isRemoved }) => !isRemoved).length }
      case 'page': {
        const names = list.items.slice(given.from, given.from + 2).map((each) => each.name)
        if (this.#bug === 'page-after-remove' && list.hasRemoved && given.from >= list.items.length)
          return { names: [list.items[given.from].name] }
        return { names }
      }
      case 'rename':
        list.name = given.name
        return { name: given.name }
      case 'export':
        return this.#export(list, cancelled)
      case 'close': {
        if (list.items.length === 0 && this.#bug !== 'close-when-empty')
          throw new Refused('the list is empty')
        list.isClosed = true
        const average = list.items.reduce((sum, { left }) => sum + left, 0) / list.items.length
        return { average }
      }
      case 'show':
        return { items: list.items.length }
      default:
        throw new Refused(`there is no tool ${name}`)
    }
  }

  async #export(list, cancelled) {
    if (this.#bug === 'odd-name-in-export' && /[^\x20-\x7E]/.test(list.name)) process.exit(1)
    if (this.#bug === 'cancelled-export' && this.#exports > 0) return new Promise(() => {})
    this.#exports++
    const isSecond = this.#exports > 1
    await new Promise((resolve) => void setTimeout(resolve, 20))
    // A cancelled export forgets to give its place back.
    if (cancelled() && this.#bug === 'cancelled-export') return undefined
    this.#exports--
    if (isSecond && this.#bug === 'export-at-once') return { text: undefined }
    return { text: `${list.name}: ${list.items.map(({ name }) => name).join(', ')}` }
  }

  #lastItem = 0
  #nextItem() {
    return ++this.#lastItem
  }

  #itemOf(list, wanted) {
    const item = list.items.find((each) => each.id === wanted)
    if (item !== undefined) return item
    const isOther = [...this.#lists.values()].some(({ items }) => items.some((each) => each.id === wanted))
    if (isOther && this.#bug === 'item-of-other-list')
      return list.items.find((each) => each.id === wanted).name
    throw new Refused(`there is no item ${wanted}`)
  }
}

function isValid(value, schema) {
  if (schema.type === 'object')
    return (
      typeof value === 'object' &&
      value !== null &&
      !Array.isArray(value) &&
      schema.required.every((name) => value[name] !== undefined) &&
      Object.entries(value).every(
        ([name, each]) => schema.properties[name] === undefined || isValid(each, schema.properties[name]),
      )
    )
  if (schema.type === 'integer' && !Number.isSafeInteger(value)) return false
  if (schema.type === 'string')
    return (
      typeof value === 'string' &&
      value.length >= (schema.minLength ?? 0) &&
      value.length <= (schema.maxLength ?? Infinity) &&
      (schema.format !== 'uuid' || /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/i.test(value))
    )
  return (
    typeof value === 'number' &&
    value >= (schema.minimum ?? -Infinity) &&
    value <= (schema.maximum ?? Infinity)
  )
}

function send(message) {
  process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`)
}

function serve(bug) {
  const lists = new Lists(bug)
  const tools = toolsOf(bug)
  const cancelled = new Set()
  createInterface({ input: process.stdin }).on('line', async (line) => {
    const { id: request, method, params } = JSON.parse(line)
    if (method === 'notifications/cancelled') cancelled.add(params.requestId)
    if (request === undefined) return
    if (method === 'initialize')
      return send({
        id: request,
        result: {
          protocolVersion: params.protocolVersion,
          capabilities: { tools: {} },
          serverInfo: { name: 'lists', version: '1.0.0' },
        },
      })
    if (method === 'tools/list') return send({ id: request, result: { tools } })
    if (method !== 'tools/call')
      return send({ id: request, error: { code: -32601, message: 'no such method' } })
    const called = tools.find(({ name }) => name === params.name)
    if (called === undefined || !isValid(params.arguments, called.inputSchema))
      return send({ id: request, error: { code: -32602, message: 'invalid arguments' } })
    try {
      const content = await lists.call(params.name, params.arguments, () => cancelled.has(request))
      if (!cancelled.has(request))
        send({
          id: request,
          result: { content: [{ type: 'text', text: JSON.stringify(content) }], structuredContent: content },
        })
    } catch (error) {
      if (error instanceof Refused)
        return send({
          id: request,
          result: { isError: true, content: [{ type: 'text', text: error.message }] },
        })
      send({
        id: request,
        error: { code: -32603, message: bug === 'stale-list' ? error.stack : 'something went wrong' },
      })
    }
  })
}

if (process.argv[1] === import.meta.filename || process.argv[1]?.endsWith('lists.mjs'))
  serve(process.argv[2] ?? 'none')
