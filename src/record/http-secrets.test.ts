import { expect, test } from 'vitest'
import { maskHeaders, maskQuery } from './http-secrets.ts'

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
