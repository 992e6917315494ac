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
      'in its greeting the server has no longer capabilities.prompts; with --handshake recorded that counts',
      'in its greeting the server has a new capabilities.tools.listChanged; with --handshake recorded that counts',
    ],
  ],
  [
    'instructions',
    { instructions: 'Ask twice.' },
    ['in its greeting the server has another instructions; with --handshake recorded that counts'],
  ],
])('what is told of a server that greets otherwise in %s', (_, change, notes) => {
  const result = { ...RECORDED, ...change }
  const told = handshakeNotes({ version: result.protocolVersion, result }, [...turns])
  expect(told.toSorted()).toEqual(notes.toSorted())
})
