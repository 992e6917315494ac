import { expect, test } from 'vitest'
import { findLeak } from './leaks.ts'

const request = (path: string): string => JSON.stringify({ params: { arguments: { path } } })

function leakIn(message: string, asked = '/data/notes', known: readonly string[] = []): string | undefined {
  const response = JSON.stringify({ error: { code: -32000, message } })
  return findLeak({ request: request(asked), response }, { kind: 'error', code: -32000, message }, { known })
}

test.each([
  'Error: no list\n    at Lists.find (/srv/lists/store.js:41:11)',
  'TypeError: x\n    at file:///app/server.mjs:12:3',
  'Traceback (most recent call last):\n  File "/app/server.py", line 12, in get',
  'java.lang.NullPointerException\n\tat com.example.Orders.get(Orders.java:41)',
  'goroutine 1 [running]:\nmain.main()',
  "thread 'main' panicked at src/main.rs:4:5",
  '   at Orders.Get(Int32 id) in /src/Orders.cs:line 41',
  "/app/orders.rb:41:in `get'",
])('the stack trace in %j is a leak', (message) => {
  expect(leakIn(message)).toContain('stack trace')
})

test('a path that nobody has named is a leak, and paths from the request, the tape, the command and the current folder are not', () => {
  expect(leakIn("ENOENT: no such file, open '/var/lib/app/orders/7.json'")).toBe(
    'the error contains a path of the server: /var/lib/app/orders/7.json',
  )
  expect(leakIn("ENOENT: no such file, open '/data/notes/7.json'")).toBeUndefined()
  expect(
    leakIn("access denied: '/var/lib/app/7.json'", 'x', ['node', 'server.js', '/var/lib/app']),
  ).toBeUndefined()
  expect(leakIn(`access denied: ${process.cwd()}/../x/y`, '../x/y')).toBeUndefined()
  expect(leakIn('use the endpoint https://example.com/a/b/c, or text/plain and 1/2')).toBeUndefined()
})

test('the text of a result is not an error, and what the client sent is not a leak', () => {
  const response = '{"result":{"content":[{"type":"text","text":"see /etc/app/server.conf"}]}}'
  expect(findLeak({ request: request('x'), response }, { kind: 'ok' }, { known: [] })).toBeUndefined()
  expect(leakIn('unknown: at a (/srv/x.js:1:2)', 'at a (/srv/x.js:1:2)')).toBeUndefined()
})
