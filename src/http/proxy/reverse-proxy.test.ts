import fc from 'fast-check'
import { cases } from '../../../test/support/cases.ts'
import { expect, test } from 'vitest'
import { endpointRewriter } from './reverse-proxy.ts'

const [FROM, TO] = ['https://far.example', 'http://127.0.0.1:4000']
const REST = ': ping\n\nevent: message\ndata: {"a":"https://far.example/x"}\n\n'

test.each([
  [
    `event: endpoint\ndata: ${FROM}/message?sessionId=1\n\n`,
    `event: endpoint\ndata: ${TO}/message?sessionId=1\n\n`,
  ],
  [`event:endpoint\r\ndata:${FROM}?a\r\n\r\n`, `event:endpoint\r\ndata:${TO}?a\r\n\r\n`],
  [`event: endpoint\ndata: ${FROM}\n\n`, `event: endpoint\ndata: ${TO}\n\n`],
  ['event: endpoint\ndata: /message?sessionId=1\n\n', 'event: endpoint\ndata: /message?sessionId=1\n\n'],
  [`event: endpoint\ndata: ${FROM}.evil/x\n\n`, `event: endpoint\ndata: ${FROM}.evil/x\n\n`],
  [`event: endpoint\ndata: https://other/x\n\n`, `event: endpoint\ndata: https://other/x\n\n`],
  [`event: message\ndata: ${FROM}/x\n\n`, `event: message\ndata: ${FROM}/x\n\n`],
  [`: hello\n\nevent: endpoint\ndata: ${FROM}/x\n\n`, `: hello\n\nevent: endpoint\ndata: ${FROM}/x\n\n`],
  [`event: endpoint\nid: 1\ndata: ${FROM}/x\n\n`, `event: endpoint\nid: 1\ndata: ${FROM}/x\n\n`],
  ['event: endp', 'event: endp'],
  ['', ''],
])('only a first event that names an endpoint of the server itself is changed: %j', (stream, handedOn) => {
  const bytes = Buffer.from(stream + (stream.endsWith('\n\n') ? REST : ''))
  const wanted = handedOn + (stream.endsWith('\n\n') ? REST : '')
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 40 }), (size) => {
      const rewriter = endpointRewriter(FROM, TO)
      const out: Uint8Array[] = []
      for (let at = 0; at < bytes.length; at += size) out.push(rewriter.next(bytes.subarray(at, at + size)))
      out.push(rewriter.end())
      expect(Buffer.concat(out).toString()).toBe(wanted)
    }),
    cases(40),
  )
})

test('bytes that are not an endpoint event are not held back', () => {
  const rewriter = endpointRewriter(FROM, TO)
  expect(Buffer.from(rewriter.next(Buffer.from('event: m'))).toString()).toBe('event: m')
  expect(Buffer.from(rewriter.next(Buffer.from('e'))).toString()).toBe('e')
})
