import { readFileSync } from 'node:fs'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { expect, test, vi } from 'vitest'
import { reelay } from '../replay/reelay.ts'
import { tapeFile } from '../serve/tape-file.ts'
import { REELAY } from '../support/recorder.ts'
import { call, client, HANDSHAKE, server, type Said } from '../support/tape-of.ts'

vi.setConfig({ testTimeout: 60_000 })

const TOOLS = [
  {
    name: 'search',
    annotations: { readOnlyHint: true },
    inputSchema: {
      type: 'object',
      required: ['query'],
      properties: {
        query: { type: 'string' },
        sort: { $ref: '#/$defs/sort' },
        filter: { type: 'object', properties: { tags: { type: 'array', items: { enum: ['new', 'old'] } } } },
      },
      $defs: { sort: { enum: ['name', 'age'] } },
    },
  },
  { name: 'clear', inputSchema: { type: 'object' } },
]
const LISTS: readonly Said[] = [
  client({ id: 80, method: 'tools/list' }),
  server({ id: 80, result: { tools: TOOLS } }),
  client({ id: 81, method: 'prompts/list' }),
  server({ id: 81, result: { prompts: [{ name: 'greet', arguments: [{ name: 'who' }] }] } }),
  client({ id: 82, method: 'resources/list' }),
  server({ id: 82, result: { resources: [{ name: 'a', uri: 'file:///a' }] } }),
  client({ id: 83, method: 'resources/templates/list' }),
  server({ id: 83, result: { resourceTemplates: [{ name: 'b', uriTemplate: 'note://{id}' }] } }),
]
const CALLS: readonly Said[] = [
  ...call(1, 'search', { query: 'milk', sort: 'name' }, 'found'),
  client({ id: 2, method: 'resources/read', params: { uri: 'note://7' } }),
  server({ id: 2, result: { contents: [] } }),
]

test('coverage lists what the tapes exercise of the lists of the server, and calls that would fill the gaps', async () => {
  expect(await reelay('coverage', tapeFile(...HANDSHAKE, ...LISTS, ...CALLS))).toEqual({
    code: 0,
    err: '',
    out: `server recorded-server

  tool      search        40 %  1×  missing: filter; filter.tags; sort "age"; filter.tags[] "new", "old"; an error
  tool      clear          0 %  0×  not used
  prompt    greet          0 %  0×  not used
  resource  file:///a      0 %  0×  not used
  template  note://{id}  100 %  1×

calls that would fill the gaps:
  reelay call search query=milk sort=age 'filter:={"tags":["new","old"]}' -- <server command>
  reelay call search sort=name -- <server command>
  reelay call --prompt greet who=who -- <server command>
  reelay call --resource file:///a -- <server command>

calls of tools that are not marked as read-only:
  reelay call clear -- <server command>

33 % covered: tools, prompts and resources 2 of 5, arguments 2 of 5, values 1 of 4, error paths 0 of 1
`,
  })
})

test('the suggested calls fill every gap, and --fail-under decides about the exit code', async () => {
  const first = tapeFile(...HANDSHAKE, ...LISTS, ...CALLS)
  const { out, code } = await reelay('coverage', '--json', '--fail-under', '90', first)
  expect(code).toBe(1)
  const report = JSON.parse(out)
  const isReport = new Ajv2020().compile(JSON.parse(readFileSync('schema/coverage-report-1.json', 'utf8')))
  expect([isReport(report), isReport.errors]).toEqual([true, null])
  const items: readonly Item[] = report.servers[0].items
  const more = items.flatMap(({ kind, name, suggestions }) =>
    suggestions.map((each) => ({ ...each, kind, name })),
  )
  const said = more.flatMap(({ kind, name, arguments: values, covers }, at): readonly Said[] => [
    client(
      kind === 'resource'
        ? { id: at, method: 'resources/read', params: { uri: name } }
        : {
            id: at,
            method: kind === 'prompt' ? 'prompts/get' : 'tools/call',
            params: { name, arguments: values },
          },
    ),
    server({
      id: at,
      result: { content: [], ...(covers.some((each) => each.kind === 'error') && { isError: true }) },
    }),
  ])
  const both = await reelay('coverage', '--fail-under', '100', first, tapeFile(...HANDSHAKE, ...said))
  expect([both.code, both.out.split('\n').at(-2)]).toEqual([
    0,
    '100 % covered: tools, prompts and resources 5 of 5, arguments 5 of 5, values 4 of 4, error paths 1 of 1',
  ])
})

interface Item {
  readonly kind: string
  readonly name: string
  readonly suggestions: readonly {
    readonly arguments: object
    readonly covers: readonly { readonly kind: string }[]
  }[]
}

test('coverage has the reports of every command, with a rule for each gap', async () => {
  const tape = tapeFile(...HANDSHAKE, ...LISTS, ...CALLS)
  const { out } = await reelay('coverage', '--report', 'ndjson', tape)
  const rules = [...out.matchAll(/"rule":"([\w-]+)"/g)].map(([, rule]) => rule)
  expect(new Set(rules)).toEqual(
    new Set(['coverage-argument', 'coverage-value', 'coverage-error-path', 'coverage-not-used']),
  )
  expect((await reelay('explain', 'coverage-value')).out).toContain('enum')
})

test('lists that nobody asked for, and calls of what is not listed, are notes', async () => {
  const { out } = await reelay(
    'coverage',
    tapeFile(...HANDSHAKE, ...LISTS.slice(0, 2), ...call(1, 'hidden', {}, 'x')),
  )
  expect(out).toContain('note: no tape asks for the prompts of the server, so they are not counted\n')
  expect(out).toContain('note: tool hidden is used, but not listed\n')
})

test('the calls for prompts and resources can be run', async () => {
  const tape = tapeFile(
    ...HANDSHAKE,
    ...LISTS,
    ...CALLS,
    client({ id: 3, method: 'prompts/get', params: { name: 'greet', arguments: { who: 'Ada' } } }),
    server({
      id: 3,
      result: { messages: [{ role: 'user', content: { type: 'text', text: 'Hello Ada' } }] },
    }),
    client({ id: 4, method: 'resources/read', params: { uri: 'file:///a' } }),
    server({ id: 4, result: { contents: [{ uri: 'file:///a', text: 'the text' }] } }),
  )
  const live = ['--', process.execPath, REELAY, 'serve', tape]
  expect((await reelay('call', '--prompt', 'greet', 'who=Ada', ...live)).out).toBe('Hello Ada\n')
  expect((await reelay('call', '--resource', 'file:///a', ...live)).out).toBe('the text\n')
  expect((await reelay('call', '--prompt', 'greet', 'who', ...live)).code).toBe(2)
})
