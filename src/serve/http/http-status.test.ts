import { expect, test } from 'vitest'
import { newestSessionRevision } from '../../protocol/revisions/index.ts'
import type { RecordedMessage } from '../../tape/turns.ts'
import { httpStatusOf, RecordedHeads } from './recorded-http.ts'

const ANSWER: RecordedMessage = {
  n: 2,
  t: 1,
  server: 'demo',
  conn: 1,
  x: 1,
  dir: 's2c',
  text: '{"jsonrpc":"2.0","id":1,"result":{}}',
  message: { kind: 'response', id: 1, outcome: { result: {} } },
}

test('an answer has its recorded status, unless no answer can have it: a tape may say anything', () => {
  const played = [200, 202, 404, 599, 0, 7, 101, 204, 304, 600, 1e9].map(playedStatus)
  expect(played).toEqual([200, 202, 404, 599, 200, 200, 200, 200, 200, 200, 200])
})

function playedStatus(status: number): number {
  const { n, t, server, conn } = ANSWER
  const head = { kind: 'http', n, t, server, conn, x: 1, dir: 's2c', http: { status, headers: [] } } as const
  return httpStatusOf(ANSWER, newestSessionRevision(), new RecordedHeads([head]))
}
