import { expect, test } from 'vitest'
import { call, callOf, client, server, tapeOf } from '../../../test/support/tape-of.ts'
import { classifyMessage } from '../../protocol/message.ts'
import { liveResponse, toLiveRequest } from './live-messages.ts'

test('the live id takes the place of the recorded one, also where the last key of the answer ends like an id', () => {
  const answer = '{"jsonrpc":"2.0","id":1,"result":{},"a\\"id":5}'
  const [turn] = tapeOf(client(callOf(1, 'search', {})), server(answer), ...call(2, 'a', {}, 'b')).turns
  const text = JSON.stringify({ jsonrpc: '2.0', ...callOf(99, 'search', {}) })
  const request = classifyMessage(JSON.parse(text))
  if (turn?.response === undefined || request.kind !== 'request') throw new Error('no exchange')
  expect(liveResponse(turn.response, turn.trigger, toLiveRequest(text, request))).toBe(
    answer.replace('"id":1', '"id":99'),
  )
})
