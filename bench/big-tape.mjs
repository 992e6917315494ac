// Tapes for benches, the same each time: calls with distinct arguments. The big one has answers from 300 bytes to 500 KB and some
// notifications, the long one short answers.
import { closeSync, openSync, writeSync } from 'node:fs'

const WORDS =
  'the quick file path error value résumé search "quoted" line\n response λ content 42 https://example.test/a'.split(
    ' ',
  )
const TOOLS = ['read_file', 'search', 'query_db', 'http_get', 'list_issues', 'run_tests', 'edit', 'grep']

/** Writes a tape of about that many bytes, and gives the number of its calls. */
export function writeBigTape(path, bytes) {
  const random = randomFrom(1)
  const long = text(random, 500_000)
  const out = begun(path)
  let calls = 0
  while (out.bytes < bytes) {
    calls++
    out.client(callOf(calls, random))
    if (random() < 0.1) out.server({ method: 'notifications/message', params: { level: 'info', data: 'x' } })
    out.server({ id: calls, result: { content: [{ type: 'text', text: answerText(random, long) }] } })
  }
  out.end()
  return calls
}

/** Writes a tape of so many calls with distinct arguments and short answers. */
export function writeLongTape(path, calls) {
  const random = randomFrom(2)
  const out = begun(path)
  for (let call = 1; call <= calls; call++) {
    out.client(callOf(call, random))
    out.server({ id: call, result: { content: [{ type: 'text', text: `answer ${call}` }] } })
  }
  out.end()
}

/** The first calls of that tape. */
export function longCalls(calls) {
  const random = randomFrom(2)
  return Array.from({ length: calls }, (_, call) => callOf(call + 1, random))
}

function begun(path) {
  const out = new Lines(path)
  out.line({
    reelay: 1,
    id: 'bench',
    started: '2026-11-15T00:00:00.000Z',
    by: 'bench',
    servers: { bench: { transport: 'stdio' } },
    tags: {},
  })
  out.client({ id: 0, method: 'initialize', params: { protocolVersion: '2025-11-25', capabilities: {} } })
  out.server({ id: 0, result: { protocolVersion: '2025-11-25', capabilities: { tools: {} } } })
  out.client({ method: 'notifications/initialized' })
  return out
}

/** The nth call of that tape, counted from 1, under another id. */
export function callAgain(nth) {
  const random = randomFrom(1)
  const long = text(random, 500_000)
  for (let call = 1; ; call++) {
    const { params } = callOf(call, random)
    if (call === nth)
      return JSON.stringify({ method: 'tools/call', params, jsonrpc: '2.0', id: `again-${nth}` })
    random()
    answerText(random, long)
  }
}

function callOf(id, random) {
  const name = TOOLS[Math.floor(random() * TOOLS.length)]
  const query = text(random, 30 + random() * 120)
  return { id, method: 'tools/call', params: { name, arguments: { query, limit: id, deep: random() < 0.5 } } }
}

function answerText(random, long) {
  const length = random() < 0.02 ? 50_000 + random() * 400_000 : 300 + random() * 3700
  const start = Math.floor(random() * (long.length - length))
  return long.slice(start, start + length)
}

function text(random, length) {
  let words = ''
  while (words.length < length) words += `${WORDS[Math.floor(random() * WORDS.length)]} `
  return words.slice(0, length)
}

/** xorshift: the same numbers every time. */
function randomFrom(seed) {
  let state = seed * 2654435761
  return () => {
    state ^= state << 13
    state ^= state >>> 17
    state ^= state << 5
    return (state >>> 0) / 4294967296
  }
}

class Lines {
  bytes = 0
  #fd
  #n = 0
  #waiting = []
  #waitingBytes = 0

  constructor(path) {
    this.#fd = openSync(path, 'wx', 0o600)
  }

  client(message) {
    this.#message('c2s', message)
  }

  server(message) {
    this.#message('s2c', message)
  }

  line(value) {
    this.#write(JSON.stringify(value))
  }

  end() {
    this.#n++
    this.line({ n: this.#n, t: this.#n, event: 'end', frames: this.#n })
    this.#flush()
    closeSync(this.#fd)
  }

  #message(dir, message) {
    const place = `"t":${++this.#n}.25,"server":"bench","conn":1,"dir":"${dir}"`
    this.#write(`{"n":${this.#n},${place},"msg":${JSON.stringify({ jsonrpc: '2.0', ...message })}}`)
  }

  #write(line) {
    this.#waiting.push(line, '\n')
    this.#waitingBytes += line.length
    if (this.#waitingBytes > 4_000_000) this.#flush()
  }

  #flush() {
    this.bytes += writeSync(this.#fd, this.#waiting.join(''))
    this.#waiting = []
    this.#waitingBytes = 0
  }
}
