import { expect, test } from 'vitest'
import type { Request, Response } from '../message.ts'
import { META_KEYS } from '../methods.ts'
import { detectRevision, sessionVersions, statelessVersions } from './index.ts'
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
    detectEra([said('initialize', { protocolVersion: 'x' }, { result: { protocolVersion: '2025-06-18' } })]),
  ).toEqual({
    era: 'legacy',
    version: '2025-06-18',
  })
})

test('an enveloped request whose result has a resultType is modern, in the version of the envelope', () => {
  expect(detectEra([said('tools/list', ENVELOPE, { result: { resultType: 'complete' } })])).toEqual({
    era: 'modern',
    version: '2026-07-28',
  })
})

test.each([-32020, -32021, -32022])('an enveloped request that got error %i is modern', (code) => {
  expect(detectEra([said('tools/list', ENVELOPE, { error: { code } })]).era).toBe('modern')
})

test('an envelope alone proves nothing: a legacy server answers it under its own rules', () => {
  const nothing = { era: undefined, version: undefined }
  expect(detectEra([])).toEqual(nothing)
  expect(detectEra([said('tools/list', ENVELOPE)])).toEqual(nothing)
  expect(detectEra([said('tools/list', ENVELOPE, { result: { tools: [] } })])).toEqual(nothing)
  expect(detectEra([said('tools/list', ENVELOPE, { error: { code: -32601 } })])).toEqual(nothing)
  expect(detectEra([said('tools/list', {}, { result: { resultType: 'complete' } })])).toEqual(nothing)
  expect(detectEra([said('initialize', {}, { error: { code: -32022 } })])).toEqual(nothing)
})

test('a failed or unanswered probe means legacy', () => {
  expect(detectEra([said('server/discover', ENVELOPE, { error: { code: -32601 } })]).era).toBe('legacy')
  expect(detectEra([said('server/discover', ENVELOPE, { result: {} })]).era).toBe('legacy')
  expect(detectEra([said('server/discover', ENVELOPE)]).era).toBe('legacy')
})

test('a failed probe does not count if another exchange proves a revision', () => {
  const probe = said('server/discover', ENVELOPE)
  const initialized = said('initialize', {}, { result: { protocolVersion: '2025-11-25' } })
  const modern = said('tools/list', ENVELOPE, { result: { resultType: 'complete' } })
  expect(detectEra([probe, initialized])).toEqual({ era: 'legacy', version: '2025-11-25' })
  expect(detectEra([probe, modern])).toEqual({ era: 'modern', version: '2026-07-28' })
})

test('the versions with sessions and those without are listed newest first', () => {
  expect(sessionVersions()).toEqual(['2025-11-25', '2025-06-18', '2025-03-26', '2024-11-05', '2024-10-07'])
  expect(statelessVersions()).toEqual(['2026-07-28'])
})

function said(
  method: string,
  params: unknown,
  outcome?: Response['outcome'],
): { readonly request: Request; readonly response: Response | undefined } {
  const request: Request = { kind: 'request', id: 1, method, params }
  return { request, response: outcome && { kind: 'response', id: 1, outcome } }
}
