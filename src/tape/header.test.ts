import fc from 'fast-check'
import { expect, test } from 'vitest'
import { ReelayError } from '../errors.ts'
import type { EventFrame } from './frame.ts'
import { decodeHeader, encodeHeader, readTapeVersion, type TapeHeader, withLateServers } from './header.ts'

const header: TapeHeader = {
  reelay: 1,
  id: '01KA2V5W9R',
  started: '2026-11-15T07:20:59.123Z',
  by: 'reelay 0.1.0',
  servers: { github: { transport: 'stdio', command: ['npx', '-y', 'x'], env: ['GITHUB_TOKEN'] } },
  tags: { ticket: 'A-1' },
}

test('the header is encoded with its keys in a fixed order', () => {
  const { tags, ...rest } = header
  expect(encodeHeader({ tags, redaction: { rules: 'default-1', key: 'k-3f9a' }, ...rest })).toBe(
    '{"reelay":1,"id":"01KA2V5W9R","started":"2026-11-15T07:20:59.123Z","by":"reelay 0.1.0",' +
      '"servers":{"github":{"transport":"stdio","command":["npx","-y","x"],"env":["GITHUB_TOKEN"]}},' +
      '"redaction":{"rules":"default-1","key":"k-3f9a"},"tags":{"ticket":"A-1"}}',
  )
})

test('the order of the keys, spaces and unknown members make no difference to a reader', () => {
  const line = `{ "tags": {"ticket":"A-1"}, "future": [1], "by":"reelay 0.1.0", "servers":
    {"github":{"since":2,"env":["GITHUB_TOKEN"],"command":["npx","-y","x"],"transport":"stdio"}},
    "started":"2026-11-15T07:20:59.123Z", "id":"01KA2V5W9R", "reelay":1.0 }`
  expect(decodeHeader(line)).toEqual(header)
})

test.each([
  ['2026-11-15T07:20:59.123', '2026-11-15T07:20:59.123Z'],
  ['2026-11-15 07:20:59', '2026-11-15T07:20:59Z'],
  ['2026-11-15T07:20', '2026-11-15T07:20Z'],
  ['2026-11-15T07:20:59+02:00', '2026-11-15T07:20:59+02:00'],
])('the start time %s is read as %s', (started, expected) => {
  expect(decodeHeader(JSON.stringify({ ...header, started })).started).toBe(expected)
})

test('the error for a newer tape names both versions', () => {
  expect(refusal('{"reelay":7,"everything":"else"}')).toEqual([
    'TAPE_TOO_NEW',
    'the tape has version 7, but this Reelay reads versions up to 1',
    'use a newer Reelay: reelay --version shows the version of this one',
  ])
  expect(() => readTapeVersion('{"reelay":7}')).toThrow('the tape has version 7')
})

test('the error for a first line that is not a header says what it is instead', () => {
  const lines = ['', 'PK', '[]', '{}', '{"jsonrpc":"2.0","id":0,"method":"initialize"}']
  expect(lines.map((line) => refusal(line).slice(0, 2))).toEqual([
    ['TAPE_NOT_OURS', 'not a Reelay tape: its first line is not a Reelay header'],
    ['TAPE_NOT_OURS', 'not a Reelay tape: its first line is not a Reelay header'],
    ['TAPE_NOT_OURS', 'not a Reelay tape: its first line is not a Reelay header'],
    ['TAPE_NOT_OURS', 'not a Reelay tape: its first line is not a Reelay header'],
    ['TAPE_NOT_OURS', 'not a Reelay tape: its first line is a JSON-RPC message'],
  ])
})

test('the error for an invalid header names the invalid member', () => {
  const edits = [
    { reelay: 'one' },
    { reelay: 0 },
    { id: 7 },
    { started: 'yesterday' },
    { utcOffsets: [60, 'CET'] },
    { by: null },
    { servers: [] },
    { servers: { github: 'stdio' } },
    { servers: { github: {} } },
    { servers: { github: { transport: 'stdio', command: 'npx' } } },
    { servers: { github: { transport: 'stdio', env: ['A', 1] } } },
    { redaction: true },
    { redaction: { rules: 'default-1' } },
    { tags: { ticket: 1 } },
  ]
  expect(
    edits.map((edit) => refusal(JSON.stringify({ ...header, ...edit }))[1].replace(/^.* is invalid: /, '')),
  ).toMatchInlineSnapshot(`
    [
      ""reelay" is not a version number",
      ""reelay" is not a version number",
      ""id" is not a string",
      ""started" is not a time",
      ""utcOffsets" is not a list of one or two numbers of minutes",
      ""by" is not a string",
      ""servers" is not an object",
      ""servers.github" is not an object",
      ""servers.github.transport" is not a string",
      ""servers.github.command" is not a list",
      ""servers.github.env[1]" is not a string",
      ""redaction" is not an object",
      ""redaction.key" is not a string",
      ""tags.ticket" is not a string",
    ]
  `)
})

test('an encoded header decodes to the same header', () => {
  const text = fc.string({ unit: 'binary' })
  const info = fc.record(
    { transport: text, command: fc.array(text), env: fc.array(text) },
    { requiredKeys: ['transport'] },
  )
  const anyHeader: fc.Arbitrary<TapeHeader> = fc.record(
    {
      reelay: fc.constant(1),
      id: text,
      started: fc.date({ noInvalidDate: true }).map((date) => date.toISOString()),
      utcOffsets: fc.array(fc.integer({ min: -840, max: 840 }), { minLength: 1, maxLength: 2 }),
      by: text,
      session: text,
      endpoint: text,
      agent: text,
      note: text,
      servers: fc.dictionary(text, info),
      redaction: fc.record({ rules: text, key: text }),
      tags: fc.dictionary(text, text),
    },
    { requiredKeys: ['reelay', 'id', 'started', 'by', 'servers', 'tags'] },
  )
  fc.assert(
    fc.property(anyHeader, (any) => {
      expect(decodeHeader(encodeHeader(any))).toEqual(any)
    }),
  )
})

function refusal(line: string): readonly [string, string, string | undefined] {
  try {
    decodeHeader(line)
  } catch (error) {
    if (error instanceof ReelayError) return [error.code, error.message, error.hint]
    throw error
  }
  return ['none', 'it was read', undefined]
}

const HEADER: TapeHeader = {
  reelay: 1,
  id: 'a',
  started: '2026-11-15T07:20:59Z',
  by: 'b',
  servers: { first: { transport: 'stdio' } },
  tags: {},
}

const joins = (server: string, details: EventFrame['details']): EventFrame => ({
  kind: 'event',
  n: 1,
  t: 0,
  server,
  event: 'server',
  details,
})

test('servers that joined late are added after those of the header', () => {
  const frames = [
    joins('second', { transport: 'stdio', command: ['a', 'b'], env: ['TOKEN'] }),
    joins('third', { transport: 'http', url: 'http://a.test/mcp' }),
  ]
  expect(withLateServers(HEADER, frames).servers).toEqual({
    first: { transport: 'stdio' },
    second: { transport: 'stdio', command: ['a', 'b'], env: ['TOKEN'] },
    third: { transport: 'http', url: 'http://a.test/mcp' },
  })
})

test('invalid members of a server event are ignored', () => {
  expect(withLateServers(HEADER, [joins('odd', { transport: 7, command: 'x' })]).servers).toHaveProperty(
    'odd',
    { transport: 'unknown' },
  )
})

test('the header stays the same if no server joined late', () => {
  expect(withLateServers(HEADER, [{ ...joins('x', {}), event: 'start' }])).toBe(HEADER)
})
