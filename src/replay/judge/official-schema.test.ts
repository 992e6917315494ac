import { expect, test } from 'vitest'
import { schemaVersionOf, sessionVersions, statelessVersions } from '../../protocol/revisions/index.ts'
import { liveServer } from '../../../test/support/live-server.ts'
import {
  callOf,
  client,
  ENVELOPE,
  HANDSHAKE,
  server,
  tapeOf,
  type Said,
} from '../../../test/support/tape-of.ts'
import type { Tape } from '../../store/file/read.ts'
import { officialSchema } from '../official-schemas.ts'
import type { ReplayOptions } from '../options.ts'
import { replay } from '../replay.ts'
import type { ReplayReport } from '../report.ts'

const GOOD = { content: [{ type: 'text', text: 'milk' }] }
const BROKEN = { content: [{ type: 'text', text: 5 }] }

const SCHEMA_REVISIONS = [...statelessVersions(), ...sessionVersions()].flatMap((version) => {
  const official = schemaVersionOf(version)
  return official === undefined ? [] : [[version, official] as const]
})

test.each(SCHEMA_REVISIONS)('the revision %s is judged by the official schema of %s', (_, official) => {
  const { schema = {}, answerValidators = {} } = officialSchema(official) ?? {}
  expect(Object.keys(schema)).toContain('$schema')
  expect(answerValidators['ListToolsResult']?.({ tools: 5 })).toBe(false)
})

test('an answer that breaks the official schema, although the recorded one did not, is found with the error of the schema', async () => {
  const report = await played(GOOD, BROKEN)
  expect(report.steps.at(-1)?.findings.filter(({ layer }) => layer === 'schema')).toEqual([
    {
      layer: 'schema',
      source: 'official',
      level: 'error',
      message: 'must be string (official schema of 2025-11-25)',
      path: 'result.content[0].text',
    },
  ])
  expect(report.notes).toEqual([])
})

test.each<[string, object, readonly string[]]>([
  ['a member that is missing', {}, ["result must have required property 'content'"]],
  ['no kind of content', { content: [{ type: 'song' }] }, ['result.content[0] must match a schema in anyOf']],
  [
    'one of several that is wrong',
    {
      content: [
        { type: 'text', text: 'a' },
        { type: 'image', data: 7, mimeType: 'image/png' },
      ],
    },
    ['result.content[1].data must be string'],
  ],
  ['what it does not know', { content: [], more: 1 }, []],
  [
    'a task that is none',
    { task: { taskId: 't1', status: 'lost', createdAt: '', lastUpdatedAt: '', ttl: null } },
    ['result.task.status must be equal to one of the allowed values'],
  ],
])('what breaks it: %s', async (_, live, found) => {
  expect(schemaLines(await played(GOOD, live))).toEqual(found)
})

test('an answer that already broke the schema when it was recorded is one note and not a failure', async () => {
  const twice = [...call(1, BROKEN), ...call(2, BROKEN)]
  const live = { content: [{ type: 'text', text: 6 }] }
  const report = await replay(tapeOf(...HANDSHAKE, ...twice), answering(live)).report
  expect(schemaLines(report)).toEqual([])
  expect(report.notes).toEqual([
    'tools/call search breaks the official schema of 2025-11-25, as it did when it was recorded: result.content[0].text must be string',
  ])
})

test('an old violation is also noted for an answer with the recorded bytes', async () => {
  const { notes, summary } = await played(BROKEN, BROKEN)
  expect(notes).toHaveLength(1)
  expect(summary.verdict).toBe('pass')
})

test('the same violation under another name or in another place is not new', async () => {
  const recorded = { content: [{ type: 'text', text: 'a' }, BROKEN.content[0]] }
  const report = await played(recorded, BROKEN)
  expect(schemaLines(report)).toEqual([])
  expect(report.notes).toHaveLength(1)
})

test('a new violation is found beside an old one', async () => {
  const report = await played(BROKEN, { ...BROKEN, isError: 'no' })
  expect(schemaLines(report)).toEqual(['result.isError must be boolean'])
  expect(report.notes).toHaveLength(1)
})

test('always: a violation that was already recorded is a failure', async () => {
  const report = await played(BROKEN, BROKEN, { officialSchema: 'always' })
  expect(schemaLines(report)).toEqual(['result.content[0].text must be string'])
  expect(report.summary.verdict).toBe('fail')
})

test.each([{ officialSchema: 'off' }, { validate: false }] as const)(
  'with %o nothing is held against it',
  async (options) => {
    const report = await played(BROKEN, { ...BROKEN, isError: 'no' }, options)
    expect(schemaLines(report)).toEqual([])
    expect(report.notes).toEqual([])
  },
)

test('a modern answer is judged by the revision that its request names, and by the kind that it says it is', async () => {
  const complete = { resultType: 'complete', ...GOOD }
  expect(schemaLines(await modern(complete, GOOD))).toEqual([
    "result must have required property 'resultType'",
  ])
  expect(schemaLines(await modern(complete, { resultType: 'input_required', inputRequests: 5 }))).toEqual([
    'result.inputRequests must be object',
  ])
  expect(schemaLines(await modern(complete, { resultType: 'task', taskId: 't' }))).toEqual([])
})

test.each(['2024-10-07', '2099-01-01', 'constructor', '__proto__', '../../package'])(
  'a server that says it speaks %s is judged by nothing',
  async (protocolVersion) => {
    const greeting = {
      protocolVersion,
      capabilities: {},
      serverInfo: { name: 'recorded-server', version: '1' },
    }
    const hello = { id: 0, method: 'initialize', params: { ...greeting, clientInfo: greeting.serverInfo } }
    const tape = tapeOf(client(hello), server({ id: 0, result: greeting }), ...call(1, GOOD))
    const live = liveServer((message) => ({
      result: 'method' in message && message.method === 'initialize' ? greeting : BROKEN,
    }))
    const report = await replay(tape, { ...live, handshake: 'recorded', allowWrites: true }).report
    expect([schemaLines(report), report.notes]).toEqual([[], []])
  },
)

test('errors are compared too', async () => {
  const error = { code: -32_602, message: 'no such thing' }
  const recorded = [client(callOf(1, 'search', {})), server({ id: 1, error })]
  const live = liveServer(() => ({ error: { code: -32_602, message: 7 } }))
  const report = await replay(tapeOf(...HANDSHAKE, ...recorded), live).report
  expect(schemaLines(report)).toEqual(['error.message must be string'])
})

function played(recorded: object, live: object, options: Partial<ReplayOptions> = {}): Promise<ReplayReport> {
  return replay(tapeOf(...HANDSHAKE, ...call(1, recorded)), { ...answering(live), ...options }).report
}

function modern(recorded: object, live: object): Promise<ReplayReport> {
  const params = { name: 'search', arguments: {}, _meta: ENVELOPE }
  const tape: Tape = tapeOf(
    client({ id: 1, method: 'tools/call', params }),
    server({ id: 1, result: recorded }),
  )
  return replay(tape, { ...answering(live), handshake: 'none', allowWrites: true }).report
}

function call(id: number, result: object): readonly Said[] {
  return [client(callOf(id, 'search', {})), server({ id, result })]
}

function answering(live: object): Pick<ReplayOptions, 'target'> {
  return liveServer(() => ({ result: live }))
}

function schemaLines({ steps }: ReplayReport): readonly string[] {
  return steps
    .flatMap(({ findings }) => findings)
    .filter(({ source }) => source === 'official')
    .map(({ path, message }) => `${path} ${message.replace(/ \(official.*/, '')}`)
}
