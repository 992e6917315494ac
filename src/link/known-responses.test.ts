import { expect, test } from 'vitest'
import { KnownResponses } from './known-responses.ts'

function response(body: string, extra = ''): string {
  const length = Buffer.byteLength(body)
  return `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n${extra}content-length: ${length}\r\n\r\n${body}`
}

function answer(id: string, text = 'hello'): string {
  return `{"jsonrpc":"2.0","id":${id},"result":{"content":[{"type":"text","text":"${text}"}]}}`
}

function knowing(body: string, id: string, left = 10_000): KnownResponses {
  const known = new KnownResponses({ left })
  const bytes = Buffer.from(response(body))
  known.learn(bytes.toString('latin1'), { bodyBytes: Buffer.byteLength(body), id })
  return known
}

function has(known: KnownResponses, text: string, id: string): boolean {
  const bytes = Buffer.from(text)
  return known.has(Buffer.concat([bytes, Buffer.from('of an earlier response')]), bytes.length, id)
}

test('a response that differs only in its id is known', () => {
  const known = knowing(answer('11', 'über'), '11')
  expect(has(known, response(answer('12', 'über')), '12')).toBe(true)
})

test.each([
  ['the id of another request', response(answer('13')), '12'],
  ['another result', response(answer('12', 'hullo')), '12'],
  ['another header', response(answer('12'), 'x: y\r\n'), '12'],
  ['an id with more digits', response(answer('112')), '112'],
  ['a part of it', response(answer('12')).slice(0, -1), '12'],
  ['more than it', `${response(answer('12'))}HTTP`, '12'],
])('%s is not known', (_, text, id) => {
  expect(has(knowing(answer('11'), '11'), text, id)).toBe(false)
})

function twice(first: string, second: string): string {
  return `{"jsonrpc":"2.0","id":${first},"result":{},"id":${second}}`
}

test('of two ids, the one that counts has to be that of the request', () => {
  const known = knowing(twice('11', '11'), '11')
  expect(has(known, response(twice('12', '11')), '12')).toBe(false)
})

test('a response that did not arrive as a whole is not remembered', () => {
  const known = new KnownResponses({ left: 10_000 })
  const body = answer('11')
  known.learn(response(body).slice(0, -1), { bodyBytes: body.length, id: '11' })
  expect(has(known, response(answer('12')), '12')).toBe(false)
})

test('responses are not remembered beyond the memory of the session', () => {
  expect(has(knowing(answer('11'), '11', 100), response(answer('12')), '12')).toBe(false)
})

test('while no response equals an earlier one, fewer and fewer are remembered', () => {
  const known = new KnownResponses({ left: 1_000_000 })
  let learned = 0
  for (let n = 0; n < 1000; n++) {
    if (!known.isLearning()) continue
    learned++
    const body = answer('11', String(n + 1000))
    known.learn(response(body), { bodyBytes: body.length, id: '11' })
  }
  expect(learned).toBeLessThan(30)
})
