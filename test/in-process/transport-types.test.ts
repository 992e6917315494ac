import type { Transport as TransportV2 } from '@modelcontextprotocol/client'
import { StdioClientTransport as StdioV2 } from '@modelcontextprotocol/client/stdio'
import type { Transport as ServerTransportV2 } from '@modelcontextprotocol/server'
import { StdioClientTransport as StdioV1 } from '@modelcontextprotocol/sdk/client/stdio.js'
import type { Transport as TransportV1 } from '@modelcontextprotocol/sdk/shared/transport.js'
import { expect, test } from 'vitest'
import type { AnyTransport } from '../../src/link/sdk-transport.ts'
import { recordTransport } from '../../src/record/in-process/record-transport.ts'
import { replayTransport } from '../../src/serve/replay-transport.ts'

// These lines are judged by the compiler: each must fit, in strict mode with exactOptionalPropertyTypes.
const intoV1 = (transport: AnyTransport): TransportV1 => transport
const intoV2 = (transport: AnyTransport): TransportV2 => transport
const intoServerV2 = (transport: AnyTransport): ServerTransportV2 => transport
const fromV1 = (transport: TransportV1): AnyTransport => transport
const fromV2 = (transport: TransportV2): AnyTransport => transport
const fromServerV2 = (transport: ServerTransportV2): AnyTransport => transport
const fromTape: (...args: Parameters<typeof replayTransport>) => AnyTransport = replayTransport

test('one type of transport fits both SDKs, whichever way it is assigned', () => {
  const [one, two] = [new StdioV1({ command: 'x' }), new StdioV2({ command: 'x' })]
  expect(intoV1(fromV2(two))).toBe(two)
  expect(intoServerV2(intoV2(fromServerV2(fromV1(one))))).toBe(one)
  expect(fromTape).toBe(replayTransport)
  expect(recordTransport satisfies (transport: StdioV1 & StdioV2, options: never) => TransportV1).toBeTypeOf(
    'function',
  )
})
