import { expect, test } from 'vitest'
import { call, HANDSHAKE, tapeOf } from '../../../test/support/tape-of.ts'
import type { ReplayOptions, ReplayTarget } from '../options.ts'
import { replay } from '../replay.ts'

const tape = tapeOf(...HANDSHAKE, ...call(1, 'search', {}, 'x'))

test('a conversation is opened in the name of reelay, with what the recorded client could do', async () => {
  const sent = await sentBy({})
  expect(sent.slice(0, 2)).toEqual([
    expect.objectContaining({
      method: 'initialize',
      params: {
        protocolVersion: '2025-11-25',
        capabilities: {},
        clientInfo: { name: 'reelay', version: expect.any(String) as string },
      },
    }),
    { jsonrpc: '2.0', method: 'notifications/initialized' },
  ])
})

test('the recorded handshake is sent on request, and none if none is wanted', async () => {
  const [recorded, none] = [await sentBy({ handshake: 'recorded' }), await sentBy({ handshake: 'none' })]
  expect(recorded[0]).toMatchObject({ method: 'initialize', params: { clientInfo: { name: 'recorded' } } })
  expect(recorded.map(({ method }) => method)).toEqual([
    'initialize',
    'notifications/initialized',
    'tools/call',
  ])
  expect(none.map(({ method }) => method)).toEqual(['tools/call'])
})

test('a server that refuses the handshake is no verdict, but an error that says so', async () => {
  const target = targetThat(() => ({ error: { code: -32022, message: 'too old' } }))
  await expect(replay(tape, { target }).report).rejects.toThrow(
    'the server did not answer initialize: it answered {"code":-32022,"message":"too old"}',
  )
})

interface Sent {
  readonly id?: unknown
  readonly method: string
}

async function sentBy(options: Omit<ReplayOptions, 'target'>): Promise<readonly Sent[]> {
  const sent: Sent[] = []
  const target = targetThat((message) => {
    sent.push(message)
    return { result: {} }
  })
  await replay(tape, { target, allowWrites: true, ...options }).report
  return sent
}

function targetThat(answer: (message: Sent) => object): ReplayTarget {
  return {
    name: 'a server of the test',
    open: async ({ onText }) => ({
      send: (text) => {
        const message = JSON.parse(text) as Sent
        const outcome = answer(message)
        if (message.id !== undefined) onText(JSON.stringify({ jsonrpc: '2.0', id: message.id, ...outcome }))
      },
      close: async () => {},
    }),
  }
}
