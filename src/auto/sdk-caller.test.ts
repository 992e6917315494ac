import { expect, test } from 'vitest'
import { isSdkFetch, isSdkSpawn } from './hooks.ts'

const CROSS_SPAWN = '    at spawn (/app/node_modules/cross-spawn/index.js:12:24)'
const PROMISE = '    at new Promise (<anonymous>)'
const stackOf = (...frames: string[]): string => ['Error', ...frames].join('\n')

test.each([
  [
    'v1',
    CROSS_SPAWN,
    '    at file:///app/node_modules/@modelcontextprotocol/sdk/dist/esm/client/stdio.js:65:29',
  ],
  [
    'v1, CommonJS',
    CROSS_SPAWN,
    '    at /app/node_modules/@modelcontextprotocol/sdk/dist/cjs/client/stdio.js:72:8',
  ],
  ['v2', CROSS_SPAWN, '    at file:///app/node_modules/@modelcontextprotocol/client/dist/stdio.mjs:74:20'],
  [
    'v2 on Windows',
    String.raw`    at spawn (C:\app\node_modules\cross-spawn\index.js:12:24)`,
    String.raw`    at C:\app\node_modules\@modelcontextprotocol\client\dist\stdio.cjs:74:20`,
  ],
  [
    'the AI SDK',
    CROSS_SPAWN,
    '    at createChildProcess (file:///app/node_modules/@ai-sdk/mcp/dist/mcp-stdio/index.js:343:9)',
  ],
  [
    'the AI SDK in a bundle',
    '    at createChildProcess (/app/a.js:9:1)',
    '    at /app/a.js:99:1',
    PROMISE,
    '    at StdioMCPTransport.start (/app/a.js:98:1)',
  ],
  [
    'a bundle',
    '    at spawn2 (/app/a.js:9:1)',
    '    at /app/a.js:99:1',
    PROMISE,
    '    at StdioClientTransport.start (/app/a.js:98:1)',
  ],
])('the start of a server by %s is seen', (_, ...frames) => {
  expect(isSdkSpawn(stackOf(...frames))).toBe(true)
})

test.each([
  ['the program itself', '    at main (/app/a.js:1:1)'],
  ['the program through cross-spawn', CROSS_SPAWN, '    at main (/app/a.js:1:1)'],
  [
    'a tool of an SDK server',
    '    at run (/app/a.js:1:1)',
    '    at /app/node_modules/@modelcontextprotocol/sdk/dist/esm/server/mcp.js:1:1',
  ],
  [
    'a handler that an SDK client calls',
    '    at handler (/app/a.js:1:1)',
    '    at file:///app/node_modules/@modelcontextprotocol/sdk/dist/esm/client/stdio.js:65:29',
  ],
  [
    'what waits for a start',
    '    at run (/app/a.js:1:1)',
    '    at async StdioClientTransport.start (/app/a.js:2:1)',
  ],
  ['nobody that is known'],
])('a child process of %s is not taken for a server', (_, ...frames) => {
  expect(isSdkSpawn(stackOf(...frames))).toBe(false)
})

test('a fetch comes from an SDK when one of its client transports is among the callers', () => {
  const sse = '    at async fetch (/app/node_modules/@modelcontextprotocol/client/dist/index.cjs:1104:23)'
  expect(isSdkFetch(stackOf('    at tracedFetch (/app/a.js:1:1)', sse))).toBe(true)
  expect(isSdkFetch(stackOf('    at tracedFetch (/app/a.js:1:1)'))).toBe(false)
})
