import { expect, test } from 'vitest'
import { type Request, type Response, META_KEYS } from '../message.ts'
import {
  detectRevision,
  revisionOfPost,
  revisionOfRequest,
  sessionRevisionOf,
  sessionVersions,
  statelessVersions,
} from './index.ts'
import type { Era } from './revision.ts'

const ENVELOPE = {
  _meta: { [META_KEYS.protocolVersion]: '2026-07-28', [META_KEYS.clientCapabilities]: {} },
}

function detectEra(exchanges: Parameters<typeof detectRevision>[0]): {
  era: Era | undefined
  version: string | undefined
} {
  const { revision, version } = detectRevision(exchanges)
  return { era: revision?.era, version }
}

test('an initialize request with a result is legacy, in the version that the server chose', () => {
  expect(
    detectEra([
      exchange('initialize', { protocolVersion: 'x' }, { result: { protocolVersion: '2025-06-18' } }),
    ]),
  ).toEqual({
    era: 'legacy',
    version: '2025-06-18',
  })
})

test('an enveloped request whose result has a resultType is modern, in the version of the envelope', () => {
  expect(detectEra([exchange('tools/list', ENVELOPE, { result: { resultType: 'complete' } })])).toEqual({
    era: 'modern',
    version: '2026-07-28',
  })
})

test.each([-32020, -32021, -32022])('an enveloped request that got error %i is modern', (code) => {
  expect(detectEra([exchange('tools/list', ENVELOPE, { error: { code } })]).era).toBe('modern')
})

test('an envelope alone proves nothing: a legacy server answers it under its own rules', () => {
  const nothing = { era: undefined, version: undefined }
  expect(detectEra([])).toEqual(nothing)
  expect(detectEra([exchange('tools/list', ENVELOPE)])).toEqual(nothing)
  expect(detectEra([exchange('tools/list', ENVELOPE, { result: { tools: [] } })])).toEqual(nothing)
  expect(detectEra([exchange('tools/list', ENVELOPE, { error: { code: -32601 } })])).toEqual(nothing)
  expect(detectEra([exchange('tools/list', {}, { result: { resultType: 'complete' } })])).toEqual(nothing)
  expect(detectEra([exchange('initialize', {}, { error: { code: -32022 } })])).toEqual(nothing)
})

test.each([
  [
    'a result',
    (versions: readonly string[]) => ({ result: { supportedVersions: versions, resultType: 'complete' } }),
  ],
  ['an error', (versions: readonly string[]) => ({ error: { code: -32022, data: { supported: versions } } })],
])('a probe is no proof of a modern server if %s lists only versions with sessions', (_, answer) => {
  const probe = (...versions: readonly string[]): ReturnType<typeof exchange> =>
    exchange('server/discover', ENVELOPE, answer(versions))
  const initialized = exchange('initialize', {}, { result: { protocolVersion: '2025-06-18' } })
  expect(detectEra([probe('2025-11-25', '2025-06-18')])).toEqual({ era: 'legacy', version: undefined })
  expect(detectEra([probe('2025-06-18'), initialized])).toEqual({ era: 'legacy', version: '2025-06-18' })
  expect(detectEra([probe('2025-11-25', '2026-07-28')])).toEqual({ era: 'modern', version: '2026-07-28' })
  expect(detectEra([probe('2025-11-25', '2031-01-01')])).toEqual({ era: 'modern', version: '2031-01-01' })
})

test('a failed or unanswered probe means legacy', () => {
  expect(detectEra([exchange('server/discover', ENVELOPE, { error: { code: -32601 } })]).era).toBe('legacy')
  expect(detectEra([exchange('server/discover', ENVELOPE, { result: {} })]).era).toBe('legacy')
  expect(detectEra([exchange('server/discover', ENVELOPE)]).era).toBe('legacy')
})

test('a failed probe does not count if another exchange proves a revision', () => {
  const probe = exchange('server/discover', ENVELOPE)
  const initialized = exchange('initialize', {}, { result: { protocolVersion: '2025-11-25' } })
  const modern = exchange('tools/list', ENVELOPE, { result: { resultType: 'complete' } })
  expect(detectEra([probe, initialized])).toEqual({ era: 'legacy', version: '2025-11-25' })
  expect(detectEra([probe, modern])).toEqual({ era: 'modern', version: '2026-07-28' })
})

test('the versions with sessions and those without are listed newest first', () => {
  expect(sessionVersions()).toEqual(['2025-11-25', '2025-06-18', '2025-03-26', '2024-11-05', '2024-10-07'])
  expect(statelessVersions()).toEqual(['2026-07-28'])
})

test.each([
  ['2025-06-18', '2025-06-18'],
  ['2025-07-01', '2025-06-18'],
  ['2031-01-01', '2025-11-25'],
  ['1999-01-01', '2024-10-07'],
  [undefined, '2025-11-25'],
])('a session of version %s follows the rules of %s', (version, known) => {
  expect(sessionRevisionOf(version).version).toBe(known)
})

test('a request with an unknown version in its envelope follows a stateless revision', () => {
  for (const version of ['1999-01-01', '2025-11-25', '2031-01-01'])
    expect(revisionOfRequest({ _meta: { [META_KEYS.protocolVersion]: version } }).version).toBe('2026-07-28')
  expect(revisionOfRequest({}).version).toBe('2025-11-25')
})

test('the header of a POST names the revision only if the message has no envelope', () => {
  const plain = { kind: 'notification', method: 'a', params: {} } as const
  const enveloped = { ...plain, params: ENVELOPE }
  const versionOf = (message: typeof plain, header: string): string =>
    revisionOfPost(message, { 'mcp-protocol-version': header }).version
  expect(versionOf(plain, ' 2026-07-28 ')).toBe('2026-07-28')
  expect(versionOf(plain, '2025-06-18')).toBe('2025-06-18')
  expect(versionOf(plain, 'unknown')).toBe('2025-11-25')
  expect(versionOf(enveloped, '2025-06-18')).toBe('2026-07-28')
})

function exchange(
  method: string,
  params: unknown,
  outcome?: Response['outcome'],
): { readonly request: Request; readonly response: Response | undefined } {
  const request: Request = { kind: 'request', id: 1, method, params }
  return { request, response: outcome && { kind: 'response', id: 1, outcome } }
}
