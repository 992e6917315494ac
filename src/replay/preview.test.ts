import { expect, test } from 'vitest'
import { answerOf, call, callOf, client, server, tapeOf } from '../../test/support/tape-of.ts'
import type { ReplayOptions } from './options.ts'
import { preview } from './preview.ts'

const HANDLE = 'ord-7f3a9c2e51'
// The third call sends what the second was answered; the last two were on their way at the same time.
const tape = tapeOf(
  ...call(1, 'list', {}, 'nothing yet'),
  client(callOf(2, 'create', { item: 'milk' })),
  server({ id: 2, result: { content: [], structuredContent: { orderId: HANDLE } } }),
  client(callOf(3, 'show', { orderId: HANDLE })),
  client({ id: 4, method: 'ping' }),
  server({ id: 4, result: {} }),
  server(answerOf(3, 'milk')),
)

test('a message is told with its index, itself, its two times, what its answer is known by, and what it waits for', async () => {
  const [, , third] = await preview(tape, { allowWrites: true, timing: { kind: 'scaled', factor: 2 } })
  expect(third).toEqual({
    index: 2,
    frame: 5,
    exchange: 3,
    message: expect.objectContaining({ kind: 'request', id: 3, method: 'tools/call' }),
    tool: 'show',
    fate: { kind: 'send' },
    due: 2,
    at: 5,
    correlationId: '1:3',
    dependencies: [1],
  })
})

test('correlated: each waits for the answers that had come, and what was parallel stays parallel', async () => {
  expect(await orderOf({})).toEqual([
    [0, []],
    [1, [0]],
    [2, [1]],
    [3, []],
  ])
})

test('sequential: each waits for the one before it', async () => {
  expect(await orderOf({ ordering: { kind: 'sequential' } })).toEqual([
    [0, []],
    [1, [0]],
    [2, [1]],
    [3, [2]],
  ])
})

test('priority: higher methods first, and never before the answer that holds what is sent', async () => {
  expect(await orderOf({ ordering: { kind: 'priority', of: { ping: 5 } } })).toEqual([
    [3, []],
    [0, []],
    [1, []],
    [2, [1]],
  ])
})

test('random: the same order for the same seed, others for others, and never before the answer that holds what is sent', async () => {
  const [orders, again] = [await randomOrders(), await randomOrders()]
  expect(orders).toEqual(again)
  expect(new Set(orders.map((order) => JSON.stringify(order))).size).toBeGreaterThan(5)
  for (const order of orders) {
    const places = order.map(([index]) => index)
    expect(places.indexOf(2)).toBeGreaterThan(places.indexOf(1))
  }
})

test('messages are chosen, then ordered, then timed', async () => {
  const messages = await preview(tape, {
    allowWrites: true,
    include: ['ping', 'tools/call:list'],
    ordering: { kind: 'priority', of: { ping: 1 } },
    timing: { kind: 'fixed', delay: 10 },
  })
  expect(messages.map(({ index, fate, due }) => [index, fate.kind, due])).toEqual([
    [3, 'send', 0],
    [0, 'send', 10],
    [1, 'skip', 20],
    [2, 'skip', 30],
  ])
})

type Order = readonly (readonly [number, readonly number[]])[]

function randomOrders(): Promise<readonly Order[]> {
  const seeds = Array.from({ length: 20 }, (_, seed) => seed)
  return Promise.all(seeds.map((seed) => orderOf({ ordering: { kind: 'random', seed } })))
}

async function orderOf(options: Omit<ReplayOptions, 'target'>): Promise<Order> {
  const messages = await preview(tape, { allowWrites: true, ...options })
  return messages.map(({ index, dependencies }) => [index, dependencies])
}
