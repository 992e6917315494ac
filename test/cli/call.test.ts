import { mkdtempSync, readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test, vi } from 'vitest'
import { reelay } from '../replay/reelay.ts'

vi.setConfig({ testTimeout: 60_000 })

const SERVER = ['--', process.execPath, 'test/fixtures/servers/catalogue.mjs']

test.each([
  [['query=5'], { query: '5' }],
  [['query=tea', 'limit=5'], { query: 'tea', limit: 5 }],
  [['query=a=b', 'limit=null', 'exact=true'], { query: 'a=b', limit: null, exact: true }],
  [
    ['query=true', 'filter={"price":1.5}', 'tags=["a","b"]', 'sort=asc'],
    {
      query: 'true',
      filter: { price: 1.5 },
      tags: ['a', 'b'],
      sort: 'asc',
    },
  ],
  [['query=x', 'any={"a":1}'], { query: 'x', any: { a: 1 } }],
  [['query=x', 'any=1'], { query: 'x', any: '1' }],
  [['query:=5', 'limit:="many"'], { query: 5, limit: 'many' }],
])('reelay call types %j by the schema of the tool', async (words, sent) => {
  const { code, out } = await reelay('call', 'search', ...words, ...SERVER)
  expect({ code, sent: JSON.parse(out) as unknown }).toEqual({ code: 0, sent })
})

test.each([
  [
    ['search', 'limit=many'],
    'the argument limit of search cannot be "many": it has to be integer or null',
    `limit:='"many"'`,
  ],
  [['search', 'query='], 'the argument query of search cannot be "": it has to be string', `query:='""'`],
  [['search', 'sort=up'], 'it has to be "asc" or "desc"', `sort:='"up"'`],
  [['search', 'query'], '"query" is not an argument', 'write key=value'],
  [['search', 'query=a', 'query=b'], 'the argument query is given twice', 'write a list as JSON'],
  [['search', 'filter:={a}'], 'the value of "filter:={a}" is not JSON', 'quote it for the shell'],
  [['serch', 'query=a'], 'the server has no tool serch', 'did you mean search?'],
  [['nothing'], 'the server has no tool nothing', 'it has search, stock, order'],
])('reelay call %j is a mistake, and no tool is called', async (words, message, hint) => {
  const { code, out, err } = await reelay('call', ...words, ...SERVER)
  expect(err).toContain(message)
  expect(err.slice(err.indexOf('hint:'))).toContain(hint)
  expect({ code, out }).toEqual({ code: 2, out: '' })
})

test('without a tool, the tools are listed with their arguments', async () => {
  expect((await reelay('call', ...SERVER)).out)
    .toBe(`search query=<string> [limit=<integer or null>] [exact=<boolean>] [filter=<object>] [tags=<array>] [sort=<"asc" or "desc">] [any=<value>]
    Search the catalogue.
stock [id=<string>]
order id=<string>
`)
})

test('an argument that the schema does not have is sent, with a note', async () => {
  const { out, err } = await reelay('call', 'search', 'query=a', 'limmit=1', ...SERVER)
  expect(err).toContain('reelay: the schema of search has no argument limmit; did you mean limit?\n')
  expect(JSON.parse(out)).toEqual({ query: 'a', limmit: '1' })
})

test('a result with isError is exit code 1, as is an error of the protocol', async () => {
  const failed = await reelay('call', 'order', 'id=gone', ...SERVER)
  expect(failed).toMatchObject({ code: 1, out: 'sold out\n' })
  expect(failed.err).toContain('reelay: order failed: its result has isError\n')
  const json = await reelay('call', 'order', 'id=tea', '--json', ...SERVER)
  expect(JSON.parse(json.out)).toMatchObject({ structuredContent: { order: 'order-tea-1' } })
})

test.each([[[]], [['modern']]])('one call makes a tape that serves and verifies (%j)', async (args) => {
  const tape = join(mkdtempSync(join(tmpdir(), 'reelay-call-')), 'search.tape.jsonl')
  const made = await reelay('call', 'search', 'query=tea', '--record', tape, ...SERVER, ...args)
  expect(made).toMatchObject({ code: 0, out: '{"query":"tea"}\n' })
  const served = ['--', process.execPath, 'dist/cli/main.js', 'serve', tape]
  expect(await reelay('call', 'search', 'query=tea', ...served)).toMatchObject({
    code: 0,
    out: '{"query":"tea"}\n',
  })
  expect(await reelay('verify', tape, ...SERVER, ...args)).toMatchObject({ code: 0 })
  const methods = readFileSync(tape, 'utf8').match(/"method":"[^"]*"/g)
  expect(methods).not.toContain(args.length > 0 ? '"method":"initialize"' : '"method":"server/discover"')
})

test('the tools and arguments of a server are completed after the first call, without starting it', async () => {
  await reelay('call', ...SERVER)
  expect((await reelay('completion', 'words', '--', 'call', 'sea')).out).toBe('search\ttool\n')
  const words = ['completion', 'words', '--', 'call', 'search', 'limit=5', 'e']
  expect((await reelay(...words)).out).toBe('exact=\t\n')
})
