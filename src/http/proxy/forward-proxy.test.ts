import { expect, test } from 'vitest'
import { parseAbsoluteTarget } from '../hosts.ts'
import { parseConnectTarget } from './forward-proxy.ts'

test.each([
  ['http://a.test', { origin: 'http://a.test', path: '/' }],
  ['HTTP://A.test:80?q', { origin: 'http://a.test', path: '/?q' }],
  ['http://a.test:8080/x/../y%2f?b=|#f', { origin: 'http://a.test:8080', path: '/x/../y%2f?b=|' }],
  ['https://[::1]:1/mcp', { origin: 'https://[::1]:1', path: '/mcp' }],
  ['http://me:pass@a.test/', undefined],
  ['http://a\\b/', undefined],
  ['http://localhost.:8080/mcp', { origin: 'http://localhost:8080', path: '/mcp' }],
  ['http://127.0.0.1./', { origin: 'http://127.0.0.1', path: '/' }],
  ['/mcp', undefined],
  ['ws://a.test/', undefined],
  ['http://', undefined],
  ['http://a.test:99999/', undefined],
])('the target %s is read with its path as it is spelled', (target, named) => {
  expect(parseAbsoluteTarget(target)).toEqual(named)
})

test.each([
  ['a.test:443', { host: 'a.test', port: 443, authority: 'a.test:443' }],
  ['[::1]:8443', { host: '::1', port: 8443, authority: '[::1]:8443' }],
  ['a.test', undefined],
  ['a.test:0', undefined],
  ['a.test:99999', undefined],
  ['::1:443', undefined],
  ['me@a.test:443', undefined],
  ['http://a.test:443', undefined],
])('what CONNECT %s names is a host and a port, or nothing', (text, authority) => {
  expect(parseConnectTarget(text)).toEqual(authority)
})
