// A shop with one seeded bug: `check` fails once everything that the bug needs has happened. The session that a client plays, the
// server and the simulation for ddmin share it.
import { randomUUID } from 'node:crypto'

/** The bugs: what must have happened to an order, in this order where `then` says so. */
export const BUGS = makeBugs()

/** Each step of a need is one call that the smallest session must have, besides `create` and `check`. */
function makeBugs() {
  const bugs = []
  const add = (kind, needs, extra = {}) =>
    bugs.push({ name: `${kind}-${bugs.length + 1}`, kind, needs, ...extra })
  const flags = ['discount', 'audit', 'holiday', 'maintenance', 'beta']
  for (const flag of flags) add('state', [{ tool: flag, own: false }])
  for (const [one, other] of [
    [0, 1],
    [1, 3],
    [2, 4],
    [4, 0],
    [3, 2],
  ])
    add('states', [
      { tool: flags[one], own: false },
      { tool: flags[other], own: false },
    ])
  for (const tool of ['ship', 'pack', 'gift', 'refund']) add('handle', [{ tool, own: true }])
  for (const [one, other] of [
    ['pack', 'ship'],
    ['gift', 'pack'],
    ['refund', 'gift'],
    ['ship', 'refund'],
    ['add', 'pack'],
    ['gift', 'ship'],
  ])
    add(
      'order',
      [
        { tool: one, own: true },
        { tool: other, own: true },
      ],
      { inOrder: true },
    )
  for (const flag of flags)
    add('handle-and-state', [
      { tool: 'ship', own: true },
      { tool: flag, own: false },
    ])
  for (const [count, tool] of [
    [2, 'gift'],
    [3, 'pack'],
    [2, 'refund'],
    [3, 'add'],
    [2, 'ship'],
  ])
    add(
      'count',
      Array.from({ length: count }, () => ({ tool, own: true })),
    )
  for (const least of [7, 40, 99, 250, 1000]) add('size', [{ tool: 'add', own: true, least }])
  for (const length of [1, 10, 33, 64, 80]) add('length', [{ tool: 'label', own: true, length }])
  for (const pause of [150, 250]) add('time', [{ tool: 'ship', own: true }], { pause })
  for (const tool of ['upload', 'scan', 'print'])
    add(
      'concurrency',
      [
        { tool, own: true, slow: true },
        { tool, own: true, slow: true },
      ],
      { isParallel: true },
    )
  for (const [one, other, flag] of [
    ['pack', 'ship', 0],
    ['gift', 'refund', 2],
    ['ship', 'gift', 3],
    ['refund', 'pack', 1],
    ['add', 'ship', 4],
  ])
    add('mixed', [
      { tool: one, own: true },
      { tool: other, own: true },
      { tool: flags[flag], own: false },
    ])
  return bugs
}

const FLAGS = ['discount', 'audit', 'holiday', 'maintenance', 'beta']
const OWN = ['ship', 'pack', 'gift', 'refund', 'upload', 'scan', 'print']
const READS = ['total', 'list', 'ping', 'check']
const SLOW_MS = 60

export const TOOLS = ['create', 'add', 'label', ...OWN, ...FLAGS, ...READS].map((name) => ({
  name,
  inputSchema: {
    type: 'object',
    properties: {
      id: { type: 'string' },
      item: { type: 'string' },
      quantity: { type: 'integer', minimum: 1 },
      text: { type: 'string' },
      note: { type: 'string' },
    },
    required: ['add', 'label', ...OWN, 'total', 'check'].includes(name) ? ['id'] : [],
  },
  annotations: { readOnlyHint: READS.includes(name) },
}))

/** Fake tokens of the session. None of them may be in a capsule. They are put together here, so that no scanner takes this file for a leak. */
export const PLANTED = [
  ['ghp', 'a8Kq2LmZ7vXc4BnT9sWd1RfY6hJp3GuE5oQi'].join('_'),
  ['sk', 'live', '51Hb7xQzKt3VmRw9NcYp2LdF'].join('_'),
]

export class Shop {
  #bug
  #now
  #orders = new Map()
  #flags = []
  #open = new Map()

  constructor(bug, now = () => performance.now()) {
    this.#bug = bug
    this.#now = now
  }

  /** Returns the result of a call. `wait` lasts as long as the work of a slow tool. */
  async call(name, given = {}, wait = (ms) => new Promise((resolve) => void setTimeout(resolve, ms))) {
    if (name === 'ping') return done({ pong: true })
    if (name === 'list') return done({ orders: this.#orders.size })
    if (FLAGS.includes(name)) {
      this.#flags.push(name)
      return done({ [name]: true })
    }
    if (name === 'create') {
      const id = randomUUID()
      this.#orders.set(id, { made: this.#now(), events: [] })
      return done({ id, receipt: `paid with ${PLANTED[1]}` })
    }
    const order = this.#orders.get(given.id)
    if (order === undefined) return failed(`there is no order ${given.id}`)
    if (name === 'check')
      return this.#hasBug(order) ? failed('internal error: the order is corrupt') : done({ fine: true })
    if (name === 'total') return done({ events: order.events.length })
    const others = this.#open.get(`${given.id} ${name}`) ?? 0
    const event = {
      tool: name,
      quantity: given.quantity ?? 0,
      length: given.text?.length ?? 0,
      overlaps: others > 0,
    }
    if (['upload', 'scan', 'print'].includes(name)) {
      this.#open.set(`${given.id} ${name}`, others + 1)
      await wait(SLOW_MS)
      this.#open.set(`${given.id} ${name}`, (this.#open.get(`${given.id} ${name}`) ?? 1) - 1)
    }
    order.events.push(event)
    return done({ [name]: true })
  }

  #hasBug({ made, events }) {
    const { needs, inOrder = false, pause = 0, isParallel = false } = this.#bug
    if (this.#now() - made < pause) return false
    if (isParallel) return events.some(({ tool, overlaps }) => tool === needs[0].tool && overlaps)
    let left = events
    for (const { tool, own, least = 0, length = 0 } of needs) {
      if (!own) {
        if (!this.#flags.includes(tool)) return false
        continue
      }
      const at = left.findIndex(
        (event) => event.tool === tool && event.quantity >= least && event.length >= length,
      )
      if (at < 0) return false
      left = inOrder ? left.slice(at + 1) : left.toSpliced(at, 1)
    }
    return true
  }
}

function done(value) {
  return { content: [{ type: 'text', text: JSON.stringify(value) }], structuredContent: value }
}

function failed(text) {
  return { content: [{ type: 'text', text }], isError: true }
}

/** The calls of a session with `size` calls in which the bug shows at the end, from a seed. `order` is the number of an order. */
export function sessionCalls(bug, size, seed) {
  const random = generator(seed)
  const pick = (list) => list[Math.floor(random() * list.length)]
  const ORDERS = 6
  const calls = Array.from({ length: ORDERS }, () => ({ name: 'create' }))
  const special = ORDERS - 1
  const used = new Set(bug.needs.map(({ tool }) => tool))
  const noise = () => {
    const tool = pick(['add', 'label', ...OWN, ...READS, ...READS])
    if (tool === 'list' || tool === 'ping')
      return { name: tool, given: { note: 'n'.repeat(Math.floor(random() * 20)) } }
    // Calls on the failing order that are no part of the bug are noise, too.
    const order =
      used.has(tool) || tool === 'check' ? Math.floor(random() * special) : Math.floor(random() * ORDERS)
    return { name: tool, order, given: argumentsOf(tool, random) }
  }
  const unusedFlags = FLAGS.filter((flag) => !used.has(flag))
  const middle = []
  while (middle.length < size - ORDERS - 1)
    middle.push(random() < 0.03 ? { name: pick(unusedFlags) } : noise())
  if (bug.isParallel) {
    const [{ tool }] = bug.needs
    middle.splice(
      middle.length / 2,
      2,
      { name: tool, order: special, isParallel: true },
      { name: tool, order: special },
    )
  } else {
    const places = bug.needs
      .map(() => Math.floor(random() * middle.length))
      .toSorted((one, other) => one - other)
    for (const [at, { tool, own, least, length }] of bug.needs.entries())
      middle[places[at] + at < middle.length ? places[at] + at : middle.length - bug.needs.length + at] = {
        name: tool,
        ...(own && { order: special }),
        given: {
          ...(least && { item: 'brick', quantity: least * 3 }),
          ...(length && { text: 'y'.repeat(length * 2) }),
          note: `a note, token ${PLANTED[0]}`,
        },
      }
  }
  return [
    ...calls,
    ...middle,
    ...(bug.pause ? [{ name: 'ping', pause: bug.pause * 1.5 }] : []),
    { name: 'check', order: special, given: { note: `api_key=${PLANTED[0]}` } },
  ]
}

function argumentsOf(tool, random) {
  if (tool === 'add')
    return { item: `item ${Math.floor(random() * 9)}`, quantity: 1 + Math.floor(random() * 4) }
  return tool === 'label' ? { text: 'a label'.slice(0, Math.floor(random() * 8)) } : {}
}

/** How many messages the smallest session has. */
export function smallestSession({ needs }) {
  return needs.length + 2
}

function generator(seed) {
  let state = seed * 2654435761 + 1
  return () => {
    state = (Math.imul(state, 1103515245) + 12345) & 0x7fffffff
    return state / 0x80000000
  }
}
