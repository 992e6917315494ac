import { createServer, get, type IncomingMessage } from 'node:http'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { expect, onTestFinished, test, vi } from 'vitest'
import { sseEventText, SseWriter } from './sse-writer.ts'

test('a message whose JSON has line breaks between its values is one event all the same', () => {
  expect(sseEventText('{"a":1,\r\n"b":\r2}', { id: 'e1' })).toBe(
    'event: message\nid: e1\ndata: {"a":1,\ndata: "b":\ndata: 2}\n\n',
  )
})

test('a silent stream says now and then that it is still there, and stops when its reader has left', async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
  onTestFinished(() => void vi.useRealTimers())
  const server = createServer((_req, res) => void new SseWriter(res)).listen(0, '127.0.0.1')
  onTestFinished(() => void server.close())
  await once(server, 'listening')
  const request = get(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`)
  const [stream] = (await once(request, 'response')) as [IncomingMessage]
  vi.advanceTimersByTime(15_000)
  const [comment] = (await once(stream, 'data')) as [Buffer]
  expect(comment.toString()).toBe(': still here\n\n')
  stream.destroy()
  await vi.waitUntil(() => vi.getTimerCount() === 0)
})
