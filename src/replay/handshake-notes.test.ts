import { expect, test } from 'vitest'
import { HANDSHAKE, tapeOf } from '../../test/support/tape-of.ts'
import { handshakeNotes } from './notes.ts'

const { turns } = tapeOf(...HANDSHAKE)
const RECORDED = {
  protocolVersion: '2025-11-25',
  capabilities: { tools: {}, resources: {}, prompts: {} },
  serverInfo: { name: 'recorded-server', version: '1' },
}

test.each<[string, object, readonly string[]]>([
  ['nothing', {}, []],
  [
    'its version',
    { serverInfo: { name: 'recorded-server', version: '2' } },
    ['the server is recorded-server 2, recorded recorded-server 1'],
  ],
  ['a revision', { protocolVersion: '2025-06-18' }, ['the server speaks 2025-06-18, recorded 2025-11-25']],
  [
    'a capability that is gone, and one that is new',
    { capabilities: { tools: { listChanged: true }, resources: {} } },
    [
      'in the handshake, capabilities.prompts is missing; use --handshake recorded to compare it',
      'in the handshake, capabilities.tools.listChanged is new; use --handshake recorded to compare it',
    ],
  ],
  [
    'instructions',
    { instructions: 'Ask twice.' },
    ['in the handshake, instructions has changed; use --handshake recorded to compare it'],
  ],
])('what is told of a server that greets otherwise in %s', (_, change, notes) => {
  const result = { ...RECORDED, ...change }
  const told = handshakeNotes({ version: result.protocolVersion, result }, [...turns])
  expect(told.toSorted()).toEqual(notes.toSorted())
})
