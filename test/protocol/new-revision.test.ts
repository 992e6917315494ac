import { beforeAll, expect, test } from 'vitest'
import type { JsonObject } from '../../src/json/parse.ts'
import { META_KEYS } from '../../src/protocol/message.ts'
import { addRevision, detectRevision, revisionOfRequest } from '../../src/protocol/revisions/index.ts'
import type { Revision } from '../../src/protocol/revisions/revision.ts'
import { statelessRevision } from '../../src/protocol/revisions/stateless-revision.ts'
import { replay } from '../../src/replay/replay.ts'
import { urlTarget } from '../../src/replay/targets.ts'
import { ReplaySession } from '../../src/serve/session/replay-session.ts'
import { ask, post } from '../support/http.ts'
import { answerOf, callOf, client, ENVELOPE, server, tapeOf } from '../support/tape-of.ts'
import { jsonOf, serving } from '../serve/serving.ts'

// A revision that does not exist. All of it is in this object: nothing else in the code knows about it.
const VERSION = '2099-01-01'
const QUOTA_EXCEEDED = -32099
const stateless = statelessRevision({ version: VERSION })
const revision20990101: Revision = {
  ...stateless,
  openingMethod: 'server/hello',
  opening: (by) => ({ method: 'server/hello', params: { _meta: stateless.requestMeta(by) } }),
  builtInAnswer: ({ method }, described) =>
    method === 'server/hello' ? { result: { hello: described().version } } : undefined,
  postHeaders: (message, context) => ({ ...stateless.postHeaders(message, context), 'mcp-region': 'eu' }),
  checkPost: (message, headers, rules) =>
    stateless.checkPost(message, headers, rules) ??
    (headers['mcp-region'] === undefined
      ? { status: 400, code: -32098, message: 'the header Mcp-Region is missing' }
      : undefined),
  httpStatus: (errorCode) => (errorCode === QUOTA_EXCEEDED ? 429 : stateless.httpStatus(errorCode)),
}

beforeAll(() => addRevision(revision20990101)) // Vitest calls the returned function after the tests.

const META = { ...ENVELOPE, [META_KEYS.protocolVersion]: VERSION }
const request = ({ params = {}, ...message }: JsonObject): object => ({
  jsonrpc: '2.0',
  ...message,
  params: { ...Object(params), _meta: META },
})
const complete = (id: number, text: string): object => {
  const { result } = answerOf(id, text)
  return { id, result: { ...Object(result), resultType: 'complete' } }
}
const SEARCH = request(callOf(1, 'search', { q: 'reel' }))
const EXPORT = request(callOf(2, 'export', {}))
const TAPE = tapeOf(
  client(SEARCH),
  server(complete(1, 'found')),
  client(EXPORT),
  server({ id: 2, error: { code: QUOTA_EXCEEDED, message: 'quota exceeded' } }),
)
const HEADERS = {
  'MCP-Protocol-Version': VERSION,
  'Mcp-Method': 'tools/call',
  'Mcp-Name': 'search',
  'Mcp-Region': 'us',
}

test('its conversations and requests are recognised', () => {
  const [turn] = TAPE.turns
  const [trigger, response] = [turn?.trigger?.message, turn?.response?.message]
  if (trigger?.kind !== 'request' || response?.kind !== 'response') throw new Error('no exchange')
  expect(detectRevision([{ request: trigger, response }])).toEqual({
    revision: revision20990101,
    version: VERSION,
  })
  expect(revisionOfRequest(trigger.params)).toBe(revision20990101)
  expect(revisionOfRequest({ _meta: ENVELOPE }).version).toBe('2026-07-28')
})

test('a served tape applies its checks, its statuses and its own answers', async () => {
  const { url } = await serving({ tape: TAPE })
  const found = await ask(url, post(SEARCH, HEADERS))
  expect([found.status, jsonOf(found)]).toMatchObject([200, { id: 1, result: { resultType: 'complete' } }])
  const { 'Mcp-Region': _, ...withoutRegion } = HEADERS
  const rejected = await ask(url, post(SEARCH, withoutRegion))
  expect([rejected.status, jsonOf(rejected)]).toMatchObject([400, { error: { code: -32098 } }])
  const limited = await ask(url, post(EXPORT, { ...HEADERS, 'Mcp-Name': 'export' }))
  expect([limited.status, jsonOf(limited)]).toMatchObject([429, { error: { code: QUOTA_EXCEEDED } }])
  const hello = await ask(
    url,
    post(request({ id: 3, method: 'server/hello' }), { ...HEADERS, 'Mcp-Method': 'server/hello' }),
  )
  expect(jsonOf(hello)).toMatchObject({ result: { hello: VERSION } })
})

test('a replay opens the conversation and sends headers as the revision requires', async () => {
  const { url } = await serving({ tape: TAPE })
  const { steps } = await replay(TAPE, { target: urlTarget(url), allowWrites: true }).report
  expect(steps.map(({ state, findings }) => [state, findings])).toEqual([
    ['done', []],
    ['done', []],
  ])
  expect(steps.map(({ answer }) => answer)).toEqual([
    expect.stringContaining('found'),
    expect.stringContaining('quota exceeded'),
  ])
})

test('an in-process session sends its envelope', async () => {
  const session = new ReplaySession(TAPE, { drift: 'ignore' })
  await session.connect()
  const found = await session.callTool({ name: 'search', arguments: { q: 'reel' } })
  expect(found).toMatchObject({ content: [{ text: 'found' }] })
})
