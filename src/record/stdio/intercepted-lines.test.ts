import fc from 'fast-check'
import { expect, test } from 'vitest'
import { cases } from '../../../test/support/cases.ts'
import { parseFilter } from '../../filter/filter.ts'
import type { Direction } from '../../protocol/message.ts'
import { Interceptor } from '../intercept/interceptor.ts'
import type { InterceptedLink } from '../intercept/link-interceptor.ts'
import { InterceptedLines } from './intercepted-lines.ts'

const LONG = 'x'.repeat(500)
const PASSING = [
  '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","arguments":{"text":"nothing"}}}',
  `{"method":"tools/call","params":{"name":"echo","arguments":{"text":"${LONG}"}},"jsonrpc":"2.0","id":2}`,
  `{"method":"tools/call","params":{"name":"echo","arguments":"${LONG}"},"jsonrpc":"2.0","id":"a\\"b"}`,
  `{"jsonrpc":"2.0","method":"notifications/x","params":{"text":"${LONG}"}}`,
  `{"jsonrpc":"2.0","id":3,"result":{"text":"${LONG} nothing"}}`,
  `{"result":{"text":"\\u006eothing"},"jsonrpc":"2.0","id":4}`,
  'not JSON',
  '',
]
const HELD = [
  '{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":"nothing"}}',
  `{"jsonrpc":"2.0","id":6,"method":"tools/call","params":{"arguments":{"text":"${LONG}"},"name":"nothing"}}`,
  '{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"\\u006eothing"}}',
  '{"id":8,"jsonrpc":"2.0","params":{"name":"nothing"},"method":"tools/call"}',
]

test('however the chunks are cut, the same lines are held, the others keep their bytes, and all requests are counted', () => {
  const line = fc.record({
    text: fc.constantFrom(...PASSING, ...HELD),
    end: fc.constantFrom('\n', '\r\n'),
  })
  const cuts = fc.array(fc.integer({ min: 1, max: 700 }), { minLength: 1 })
  fc.assert(
    fc.property(fc.array(line), cuts, fc.constantFrom('', 'the end'), (lines, lengths, rest) => {
      const bytes = Buffer.from(lines.map(({ text, end }) => text + end).join('') + rest)
      const { forwarded, recorded, held, requests } = passThrough(bytes, lengths)
      expect(held).toEqual(lines.map(({ text }) => text).filter(isHeld))
      const passing = lines.filter(({ text }) => !isHeld(text))
      expect(forwarded).toBe(passing.map(({ text, end }) => text + end).join('') + rest)
      expect(recorded).toBe(forwarded)
      expect(requests).toBe(lines.filter(({ text }) => /"method":.*"id":|"id":.*"method":/.test(text)).length)
    }),
    cases(200),
  )
})

test('a long line that cannot be held is forwarded as it arrives', () => {
  const start = '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","arguments":{"text":"'
  expect(passThrough(Buffer.from(start + LONG), [200]).chunks).toEqual([
    200,
    200,
    start.length + LONG.length - 400,
  ])
})

function isHeld(text: string): boolean {
  return HELD.includes(text)
}

/** Passes bytes in chunks of these lengths. What is held is dropped at once. */
function passThrough(
  bytes: Buffer,
  lengths: readonly number[],
): {
  readonly forwarded: string
  readonly recorded: string
  readonly chunks: readonly number[]
  readonly held: readonly string[]
  readonly requests: number | undefined
} {
  const interceptor = new Interceptor({
    filter: parseFilter('tool:nothing kind:request'),
    holdLimitMs: 1000,
    onLimit: 'forward',
  })
  const parts: Buffer[] = []
  const held: string[] = []
  let recorded = ''
  const lines = new InterceptedLines({
    dir: 'c2s',
    link: interceptor.link({ server: 'a', conn: () => 1 }),
    recorder: {
      pass: (chunk, handOn) => {
        recorded += Buffer.from(chunk).toString('latin1')
        handOn()
      },
      end: () => {},
      forgetLine: () => {
        recorded = recorded.slice(0, recorded.lastIndexOf('\n') + 1)
      },
    },
    route: {
      deliver: () => {},
      drop: () => {},
      record: (_, text) => held.push(text),
      event: () => {},
    },
  })
  for (let at = 0, turn = 0; at < bytes.length; turn++) {
    const chunk = bytes.subarray(at, at + lengths[turn % lengths.length]!)
    lines.pass(chunk, (other = chunk) => parts.push(Buffer.from(other)))
    for (const each of interceptor.list()) each.drop({ by: 'test' })
    at += chunk.length
  }
  const chunks = parts.map(({ length }) => length)
  lines.end((other) => other && parts.push(Buffer.from(other)))
  interceptor.close()
  return {
    forwarded: Buffer.concat(parts).toString(),
    recorded: Buffer.from(recorded, 'latin1').toString(),
    chunks,
    held,
    requests: interceptor.stats['requests'],
  }
}

const FILTERS = [
  'tool:echo',
  'tool:ec*,x',
  'method:tools/*',
  'method:notifications/message',
  'tool:"a b"',
  'server:a',
  'status:error',
  'status:ok',
  'status:pending',
  'status:tool-error,miss',
  '-status:ok kind:response',
  'dir:s2c',
  'kind:notification',
  '-kind:request',
  'duration:>50s',
  'duration:<1m',
  'duration:1s..2s',
  'size:>120b',
  'size:<60b',
  'size:1kb..2kb',
  'conn:1',
  'conn:2',
  'id:3',
  'id:"3"',
  '#2',
  '#2-4',
  '-#2 kind:request',
  '-tool:echo',
  '-tool:echo,x kind:response',
  '-method:tools/*',
  '-server:a or tool:x',
  'frame:1',
  'milk',
  'MILK',
  'tools',
  '"k\u212a"',
  'ilk\u0130',
  '"a\\"b"',
  'a/b',
  'é',
  '-milk',
  're:/m[ij]lk/',
  're:/^.{3,}milk/',
  'params.name',
  'params.arguments.q = milk',
  'params.arguments.q != milk',
  'params.arguments.n > 5',
  'params.arguments["a b"] = 1',
  'params.arguments.q ~ /^MI/i',
  'params.arguments.q ~ IL',
  'params',
  'result.isError',
  'result.total > 100',
  'result.list[*] = 2',
  'result.list[0].total <= 7',
  'error.code < 0',
  'tool:echo status:error',
  'tool:echo or status:error',
  '-(tool:echo or result.total > 100)',
  'tool:echo -milk',
  '(milk or size:<80b) -kind:request',
  'dir:s2c -status:ok',
  'not (tool:echo result.total > 1)',
]
const NAMES = ['echo', 'x', 'a b', String.raw`e\u0063ho`]
const VALUES = ['milk', 'Milk', 'MIL\u212a', '\u0130lk', 'a"b', 'a/b', 'é', 'other']

test.each(FILTERS)('%s holds the same messages as if each was parsed', (filter) => {
  const request = fc.record({
    dir: fc.constantFrom<Direction>('c2s', 's2c'),
    id: fc.oneof(fc.integer({ min: 1, max: 4 }), fc.constantFrom('3', 'a"b')),
    name: fc.constantFrom(...NAMES),
    value: fc.constantFrom(...VALUES),
    number: fc.integer({ min: -1, max: 200 }),
    form: fc.nat(7),
  })
  const cuts = fc.array(fc.integer({ min: 20, max: 700 }), { minLength: 1 })
  fc.assert(
    fc.property(fc.array(request, { maxLength: 12 }), cuts, (messages, lengths) => {
      const lines = messages.map((message) => ({ dir: message.dir, text: lineOf(message) }))
      expect(heldOf(filter, lines, lengths, 'glanced')).toEqual(heldOf(filter, lines, lengths, 'parsed'))
    }),
    cases(100),
  )
})

interface RandomMessage {
  readonly id: number | string
  readonly name: string
  readonly value: string
  readonly number: number
  readonly form: number
}

/** A line as peers write it: the id first, last or in between, with or without spaces, and with or without escapes. */
function lineOf({ id, name, value, number, form }: RandomMessage): string {
  const [text, json] = [JSON.stringify(value), JSON.stringify(id)]
  const params = `{"name":"${name}","arguments":{"q":${text},"n":${number},"a b":${number % 2}}}`
  const result = `{"total":${number},"list":[{"total":${number}},2],"isError":${number % 2 === 0},"text":${text}}`
  switch (form) {
    case 0:
      return `{"jsonrpc":"2.0","id":${json},"method":"tools/call","params":${params}}`
    case 1:
      return `{"method":"tools/call","params":${params},"jsonrpc":"2.0","id":${json}}`
    case 2:
      return `{ "id": ${json}, "method": "tools\\/call", "params": ${params}, "jsonrpc": "2.0" }`
    case 3:
      return `{"jsonrpc":"2.0","id":${json},"result":${result}}`
    case 4:
      return `{"result":${result},"jsonrpc":"2.0","id":${json}}`
    case 5:
      return `{"jsonrpc":"2.0","id":${json},"error":{"code":${-number},"message":${text}}}`
    case 6:
      return `{"jsonrpc":"2.0","method":"notifications/message","params":{"id":${json},"data":${text}}}`
    default:
      return `{"method":"notifications/cancelled","params":{"requestId":${json}},"jsonrpc":"2.0"}`
  }
}

/** The messages that are held, with the methods and numbers of their requests. What is held is dropped at once. */
function heldOf(
  filter: string,
  lines: readonly { readonly dir: Direction; readonly text: string }[],
  lengths: readonly number[],
  how: 'glanced' | 'parsed',
): readonly unknown[] {
  const interceptor = new Interceptor({
    filter: parseFilter(filter),
    holdLimitMs: 100_000,
    onLimit: 'forward',
  })
  const real = interceptor.link({ server: 'a', conn: () => 1 })
  const parsing: InterceptedLink = {
    repeatRoute: undefined,
    defersHeads: false,
    beginLines: () => {},
    nextLine: (_, at) => at,
    passes: () => false,
    passesBeginning: () => false,
    passUnseen: (unseen) => real.passUnseen(unseen),
    countRequests: (bytes) => real.countRequests(bytes),
    countLongLine: (beginning, end) => real.countLongLine(beginning, end),
    takes: (passing) => real.takes(passing),
    isHolding: (dir) => real.isHolding(dir),
    end: (...args) => real.end(...args),
    abandon: (...args) => real.abandon(...args),
  }
  const link = how === 'glanced' ? real : parsing
  const route = { deliver() {}, drop() {}, event() {}, record: () => undefined }
  const recorder = { pass: (_: Uint8Array, handOn: () => void) => handOn(), end() {}, forgetLine() {} }
  const links = {
    c2s: new InterceptedLines({ dir: 'c2s', link, route, recorder }),
    s2c: new InterceptedLines({ dir: 's2c', link, route, recorder }),
  }
  const held: unknown[] = []
  const dropHeld = (): void => {
    for (const message of interceptor.list()) {
      const { dir, text, method, target, exchange, kind } = message.facts
      held.push({ dir, text, method, target, exchange, kind })
      message.drop({ by: 'test' })
    }
  }
  // Lines of one direction that follow each other arrive together, in chunks of these lengths.
  let turn = 0
  for (let at = 0; at < lines.length;) {
    const { dir } = lines[at]!
    const next = lines.findIndex((line, index) => index > at && line.dir !== dir)
    const end = next < 0 ? lines.length : next
    let bytes = Buffer.from(
      lines
        .slice(at, end)
        .map(({ text }) => `${text}\n`)
        .join(''),
    )
    while (bytes.length > 0) {
      const length = lengths[turn++ % lengths.length]!
      links[dir].pass(bytes.subarray(0, length), () => {})
      bytes = bytes.subarray(length)
      dropHeld()
    }
    at = end
  }
  interceptor.close()
  return held
}
