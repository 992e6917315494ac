import { expect, test } from 'vitest'
import { liveServer } from '../../test/support/live-server.ts'
import { client, ENVELOPE, HANDSHAKE, server, tapeOf } from '../../test/support/tape-of.ts'
import { META_KEYS } from '../protocol/message.ts'
import type { Tape } from '../store/file/read.ts'
import { replay } from './replay.ts'
import type { ReplayOptions } from './options.ts'
import { ServerIdentity } from './server-identity.ts'

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
  [
    'its title',
    { serverInfo: { ...RECORDED.serverInfo, title: 'A server' } },
    ['in the introduction of the server, serverInfo.title is new'],
  ],
  ['a revision', { protocolVersion: '2025-06-18' }, ['the server speaks 2025-06-18, recorded 2025-11-25']],
  [
    'a capability that is gone, and one that is new',
    { capabilities: { tools: { listChanged: true }, resources: {} } },
    [
      'in the introduction of the server, capabilities.prompts is missing',
      'in the introduction of the server, capabilities.tools.listChanged is new',
    ],
  ],
  [
    'instructions',
    { instructions: 'Ask twice.' },
    ['in the introduction of the server, instructions has changed'],
  ],
])(
  'what is reported about a server that introduces itself with a difference in %s',
  (_, change, expected) => {
    const found: string[] = []
    const identity = new ServerIdentity(({ message }) => found.push(message))
    identity.compareOpenings(RECORDED, { ...RECORDED, ...change })
    identity.compareOpenings(RECORDED, { ...RECORDED, ...change })
    expect(found.toSorted()).toEqual(expected.toSorted())
  },
)

const NEW_VERSION = 'the server is recorded-server 2, recorded recorded-server 1'

test.each(['legacy', 'modern'] as const)(
  'in the %s era a new version is one note, and in a strict run one error',
  async (era) => {
    const lax = await replayed(era, '2', {})
    expect([lax.verdict, lax.findings, lax.notes]).toEqual(['pass', [], [NEW_VERSION]])
    const strict = await replayed(era, '2', { strict: true })
    expect([strict.verdict, strict.findings, strict.notes]).toEqual(['fail', [NEW_VERSION], []])
    const same = await replayed(era, '1', { strict: true })
    expect([same.verdict, same.findings, same.notes]).toEqual(['pass', [], []])
  },
)

test('with the recorded handshake a new version is one note as well', async () => {
  const { verdict, notes } = await replayed('legacy', '2', { handshake: 'recorded' })
  expect([verdict, notes]).toEqual(['pass', [NEW_VERSION]])
})

async function replayed(
  era: 'legacy' | 'modern',
  version: string,
  options: Partial<ReplayOptions>,
): Promise<{ verdict: string; findings: readonly string[]; notes: readonly string[] }> {
  const { target } = liveServer((message) => {
    const isOpening = message.kind === 'request' && message.method === 'initialize'
    return { result: isOpening ? opening(version) : result(era, version) }
  }, opening(version))
  const report = await replay(tapeOfEra(era), { target, allowWrites: true, ...options }).report
  return {
    verdict: report.summary.verdict,
    findings: [...report.steps].flatMap(({ findings }) => findings.map(({ message }) => message)),
    notes: report.notes,
  }
}

function tapeOfEra(era: 'legacy' | 'modern'): Tape {
  const params = era === 'modern' ? { name: 'a', _meta: ENVELOPE } : { name: 'a' }
  return tapeOf(
    ...(era === 'legacy' ? HANDSHAKE : []),
    ...[1, 2, 3].flatMap((id) => [
      client({ id, method: 'tools/call', params }),
      server({ id, result: result(era, '1') }),
    ]),
  )
}

function result(era: 'legacy' | 'modern', version: string): object {
  if (era === 'legacy') return { content: [] }
  const info = { name: 'recorded-server', version }
  return { content: [], resultType: 'complete', _meta: { [META_KEYS.serverInfo]: info } }
}

function opening(version: string): object {
  return { ...RECORDED, serverInfo: { name: 'recorded-server', version } }
}
