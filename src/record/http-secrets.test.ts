import { expect, test } from 'vitest'
import { maskForm, maskHeaders, maskJson, maskQuery } from './http-secrets.ts'

test('headers that carry secrets keep their names and lose their values', () => {
  const headers = [
    'Authorization',
    'proxy-authorization',
    'Cookie',
    'Set-Cookie',
    'DPoP',
    'Mcp-Session-Id',
    'X-API-Key',
    'X-Context7-API-Key',
    'X-Auth-Token',
  ].map((name) => [name, 'abc'] as const)
  expect(maskHeaders(headers.flat())).toEqual(headers.map(([name]) => [name, '<secret>']))
})

test('other headers stay as they are, and a redirect keeps its path', () => {
  const headers = [
    ['Accept', '*/*'],
    ['Mcp-Method', 'tools/call'],
    ['Last-Event-ID', 'a::1'],
    ['WWW-Authenticate', 'Bearer realm="x"'],
  ] as const
  expect(maskHeaders(headers.flat())).toEqual(headers)
  expect(maskHeaders(['Location', '/cb?code=1&x=2'])).toEqual([['Location', '/cb?code=<secret>&x=2']])
})

test.each([
  ['/mcp', '/mcp'],
  ['/message?sessionId=1', '/message?sessionId=<secret>'],
  ['/cb?a=1&code=2&state=3&b', '/cb?a=1&code=<secret>&state=<secret>&b'],
  [
    '/x?access_token=1&api_key=2&key=3&monkey=4&q=a?b',
    '/x?access_token=<secret>&api_key=<secret>&key=<secret>&monkey=4&q=a?b',
  ],
])('the query of %s is masked where it holds secrets', (path, masked) => {
  expect(maskQuery(path)).toBe(masked)
})

test('a form keeps its fields and loses what would let someone in', () => {
  const form =
    'grant_type=refresh_token&refresh_token=1&client_id=c&device_code=2&client_assertion=3&scope=a+b'
  expect(maskForm(form)).toBe(
    'grant_type=refresh_token&refresh_token=<secret>&client_id=c&device_code=<secret>&client_assertion=<secret>&scope=a+b',
  )
})

test('JSON loses secrets at any depth, and keeps the addresses at which they are fetched', () => {
  const answer = {
    token_endpoint: 't',
    token_type: 'Bearer',
    all: [{ id_token: 'x', registration_access_token: 'y', client_secret: 1 }],
    client_secret_expires_at: 0,
    refresh_token: null,
  }
  expect(JSON.parse(maskJson(JSON.stringify(answer)) ?? '')).toEqual({
    ...answer,
    all: [{ id_token: '<secret>', registration_access_token: '<secret>', client_secret: '<secret>' }],
  })
  expect(maskJson('access_token=1')).toBeUndefined()
})
