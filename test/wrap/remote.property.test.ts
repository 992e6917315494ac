import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { parse } from 'jsonc-parser'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { deskIn, type Desk } from './desk.ts'

const FILE = 'project/.mcp.json'

let folder: string
let desk: Desk
beforeEach(() => void (desk = deskIn((folder = mkdtempSync(join(tmpdir(), 'reelay-remote-'))))))
afterEach(() => rmSync(folder, { recursive: true }))

const text = fc.string({ unit: 'grapheme', maxLength: 12 })
const headers = fc.dictionary(fc.stringMatching(/^[A-Za-z][A-Za-z0-9-]{0,8}$/), text, { maxKeys: 3 })
const others = fc.dictionary(fc.constantFrom('disabled', 'timeout', 'note', 'é "x"'), fc.jsonValue())
const entries = fc
  .record({ type: fc.constant('http'), url: text, headers, others }, { requiredKeys: ['url', 'others'] })
  .chain(({ others: rest, ...own }) =>
    fc.shuffledSubarray(Object.entries({ ...rest, ...own }), {
      minLength: Object.keys({ ...rest, ...own }).length,
    }),
  )
  .map((members) => Object.fromEntries(members))
const configs = fc
  .tuple(entries, fc.constantFrom('', ' ', '\t', '    '), fc.constantFrom('\n', '\r\n'))
  .map(([entry, indent, newline]) =>
    JSON.stringify({ mcpServers: { remote: entry, other: { command: 'x' } } }, null, indent).replaceAll(
      '\n',
      newline,
    ),
  )

test('an entry with a url, however it is written, is wrapped and comes back byte for byte', () => {
  fc.assert(
    fc.property(configs, (config) => {
      desk.write(FILE, config)
      desk.wrap(['remote'])
      expect(desk.read(FILE)).not.toBe(config)
      expect(desk.unwrap(['remote']).outcomes).toMatchObject([{ kind: 'unwrapped', exact: true }])
      expect(desk.read(FILE)).toBe(config)
    }),
    { numRuns: 100 },
  )
})

test('without what Reelay remembers, it means what it meant', () => {
  fc.assert(
    fc.property(configs, (config) => {
      desk.write(FILE, config)
      desk.wrap(['remote'])
      rmSync(join(folder, 'reelay', 'wrapped.json'))
      desk.unwrap(['remote'])
      expect(parse(desk.read(FILE))).toEqual(parse(config))
    }),
    { numRuns: 100 },
  )
})
