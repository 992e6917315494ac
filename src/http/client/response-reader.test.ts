import fc from 'fast-check'
import { expect, test } from 'vitest'
import { type HttpResponseHead, ResponseReader } from './response-reader.ts'

const MAX_HEAD = 4000

interface Read {
  readonly head: HttpResponseHead
  readonly body: string
  readonly isOver: boolean
}

/** What a reader makes of these pieces, as answers to these methods. */
function read(pieces: readonly (string | Buffer)[], methods: readonly string[] = ['GET']): Read[] {
  const answers: { head: HttpResponseHead; body: Buffer[]; isOver: boolean }[] = []
  const [first = 'GET', ...later] = methods
  const reader: ResponseReader = new ResponseReader(
    {
      onHead: (head) => void answers.push({ head, body: [], isOver: false }),
      onBody: (bytes) => void answers.at(-1)?.body.push(Buffer.from(bytes)),
      onEnd: () => {
        const answer = answers.at(-1)
        if (answer) answer.isOver = true
        const next = later.shift()
        if (next !== undefined) reader.begin(next)
      },
    },
    MAX_HEAD,
  )
  reader.begin(first)
  for (const piece of pieces) reader.push(Buffer.from(piece as string, 'latin1'))
  return answers.map(({ head, body, isOver }) => ({
    head,
    isOver,
    body: Buffer.concat(body).toString('latin1'),
  }))
}

const bytes = fc.string({ unit: fc.integer({ min: 0, max: 255 }).map((code) => String.fromCharCode(code)) })
const framed = fc.oneof(
  bytes.map((body) => ({ body, wire: `Content-Length: ${body.length}\r\n\r\n${body}` })),
  fc.array(bytes.filter((chunk) => chunk !== '')).map((chunks) => ({
    body: chunks.join(''),
    wire: `transfer-encoding: Chunked\r\n\r\n${chunks.map(chunkOf).join('')}0\r\nX-Trailer: 1\r\n\r\n`,
  })),
)

function chunkOf(body: string, at: number): string {
  const size = body.length.toString(16)
  return `${at % 2 === 0 ? size : `${size.toUpperCase()} ;ext="1"`}\r\n${body}\r\n`
}

test('responses are parsed the same however their bytes are split', () => {
  const property = fc.property(
    fc.array(framed, { minLength: 1 }),
    fc.infiniteStream(fc.nat(9)),
    (all, cuts) => {
      const wire = all.map((each) => `HTTP/1.1 100 Wait\r\n\r\nHTTP/1.1 200 OK\r\n${each.wire}`).join('')
      const pieces: string[] = []
      for (let at = 0; at < wire.length; at += pieces.at(-1)?.length ?? 0)
        pieces.push(wire.slice(at, at + 1 + (cuts.next().value ?? 0)))
      const answers = read(pieces, Array(all.length).fill('POST'))
      expect(answers.map(({ body, isOver }) => ({ body, isOver }))).toEqual(
        all.map(({ body }) => ({ body, isOver: true })),
      )
    },
  )
  fc.assert(property)
})

test('headers keep their spelling, their order and every byte except surrounding spaces', () => {
  const wire =
    'HTTP/1.1 299 As You  Like\r\nX-Odd: \t a  b \t\r\nx-ODD:\xe0\xa0\r\nEmpty:\r\ncontent-length: 0\r\n\r\n'
  expect(read([wire])).toEqual([
    {
      head: {
        status: 299,
        reason: 'As You  Like',
        headers: ['X-Odd', 'a  b', 'x-ODD', '\xe0\xa0', 'Empty', '', 'content-length', '0'],
        body: { kind: 'length', bytes: 0 },
        isKept: true,
      },
      body: '',
      isOver: true,
    },
  ])
})

test.each([
  ['HEAD', '200 OK\r\nContent-Length: 7', 'none', true],
  ['GET', '204 No Content\r\nContent-Length: 7', 'none', true],
  ['GET', '304 Not Modified\r\nTransfer-Encoding: chunked', 'none', true],
  ['GET', '200 OK\r\nConnection: Keep-Alive, Close\r\nContent-Length: 7', 'length', false],
  ['GET', '200 OK', 'until close', false],
  ['GET', '200 OK\r\nTransfer-Encoding: Chunked', 'chunked', true],
  ['GET', '200 OK\r\nContent-Length: 7\r\ncontent-length: 7', 'length', true],
] as const)('%s, %j: the body is %s, the socket kept: %s', (method, lines, kind, isKept) => {
  expect(read([`HTTP/1.1 ${lines}\r\n\r\n`], [method])[0]?.head).toMatchObject({ body: { kind }, isKept })
})

test.each([
  ['', true],
  ['Connection: keep-alive\r\n', false],
])('with HTTP/1.0 a socket is not kept unless that is said', (line, isClosed) => {
  const [answer] = read([`HTTP/1.0 200 OK\r\n${line}Content-Length: 0\r\n\r\n`])
  expect(answer?.head.isKept).toBe(!isClosed)
})

test.each([
  ['no HTTP at all', 'not an HTTP response', 'SSH-2.0-x\r\n\r\n'],
  ['a name with a blank', 'header line', 'HTTP/1.1 200 OK\r\nA : b\r\n\r\n'],
  ['a line that goes on in the next', 'header line', 'HTTP/1.1 200 OK\r\nA: b\r\n c\r\n\r\n'],
  ['a line feed alone', 'header line', 'HTTP/1.1 200 OK\r\nA: b\nC: d\r\n\r\n'],
  ['a carriage return alone', 'header line', 'HTTP/1.1 200 OK\r\nA: b\rC: d\r\n\r\n'],
  ['a zero byte', 'invalid character', 'HTTP/1.1 200 OK\r\nA: \0\r\n\r\n'],
  ['two lengths', 'Content-Length', 'HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n'],
  ['a length that is none', 'Content-Length', 'HTTP/1.1 200 OK\r\nContent-Length: +1\r\n\r\n'],
  [
    'a length and chunks',
    'both',
    'HTTP/1.1 200 OK\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n',
  ],
  ['chunks and HTTP/1.0', 'both', 'HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n'],
  ['another coding', 'coding "gzip"', 'HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n\r\n'],
  [
    'a coding before the chunks',
    'coding "gzip, chunked"',
    'HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n\r\n',
  ],
  [
    'more headers than most readers keep',
    'more than 500 headers',
    `HTTP/1.1 200 OK\r\n${'A:\r\n'.repeat(501)}\r\n`,
  ],
  ['a chunk without a size', 'chunk size', 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nx\r\n'],
  [
    'a chunk that is too long',
    'longer than its announced size',
    'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nab\r\n',
  ],
  ['another protocol', 'protocol', 'HTTP/1.1 101 Switching Protocols\r\n\r\n'],
  [
    'more than the answer',
    'more bytes than its response',
    'HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\nHTTP/1.1 200 OK\r\n\r\n',
  ],
  ['a head without end', 'longer than 4000 bytes', `HTTP/1.1 200 OK\r\nA: ${'b'.repeat(MAX_HEAD)}`],
])('%s is refused', (_, why, wire) => {
  expect(() => read([wire])).toThrow(why)
})
