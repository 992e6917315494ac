import fc from 'fast-check'
import { expect, test } from 'vitest'
import { importTape } from '../import-tape.ts'

/** A segment of a connection between ports 4000 (the client) and 80 (the server). */
interface Segment {
  readonly fromClient: boolean
  readonly seq: number
  readonly data: Buffer
  readonly flags?: number
}

const SYN = 2
const FIN = 1
const rpc = (message: object): string => JSON.stringify({ jsonrpc: '2.0', ...message })
const CALL = rpc({ id: 1, method: 'tools/call', params: { name: 'a', arguments: {} } })
const ANSWER = rpc({ id: 1, result: { content: [{ type: 'text', text: 'ünï' }] } })
const LATER = rpc({ id: 2, method: 'ping' })
const PONG = rpc({ id: 2, result: {} })

const request = (body: string): Buffer =>
  Buffer.from(
    `POST /mcp HTTP/1.1\r\nHost: localhost:80\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
  )

/** A chunked stream of events, whose chunks cut events apart. */
function streamed(message: string): Buffer {
  const event = Buffer.from(`event: message\nid: 7\ndata: ${message}\n\n`)
  const chunks = [event.subarray(0, 21), event.subarray(21, 60), event.subarray(60)]
  const head = 'HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n'
  return Buffer.concat([
    Buffer.from(head),
    ...chunks.flatMap((chunk) => [
      Buffer.from(`${chunk.length.toString(16)}\r\n`),
      chunk,
      Buffer.from('\r\n'),
    ]),
    Buffer.from('0\r\n\r\n'),
  ])
}

const plain = (body: string): Buffer =>
  Buffer.from(
    `HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
  )

/** Sequence numbers begin shortly before they start again at 0. */
const ISN = 0xffffff00

/** Cuts what one side sent into segments. */
function segments(
  fromClient: boolean,
  bytes: Buffer,
  start: number,
  sizes: readonly number[],
): readonly Segment[] {
  const cut: Segment[] = []
  let at = 0
  for (let index = 0; at < bytes.length; index++) {
    const size = Math.max(1, sizes[index % sizes.length] ?? 1)
    cut.push({ fromClient, seq: (start + at) >>> 0, data: bytes.subarray(at, at + size) })
    at += size
  }
  return cut
}

function session(sizes: readonly number[]): readonly Segment[] {
  const asked = [request(CALL), request(LATER)]
  const answered = [streamed(ANSWER), plain(PONG)]
  const [first = Buffer.alloc(0), second = Buffer.alloc(0)] = asked
  const [one = Buffer.alloc(0), two = Buffer.alloc(0)] = answered
  return [
    { fromClient: true, seq: ISN, data: Buffer.alloc(0), flags: SYN },
    { fromClient: false, seq: ISN, data: Buffer.alloc(0), flags: SYN },
    ...segments(true, first, ISN + 1, sizes),
    ...segments(false, one, ISN + 1, sizes),
    ...segments(true, second, ISN + 1 + first.length, sizes),
    ...segments(false, two, ISN + 1 + one.length, sizes),
    { fromClient: false, seq: (ISN + 1 + one.length + two.length) >>> 0, data: Buffer.alloc(0), flags: FIN },
  ]
}

function tcp({ fromClient, seq, data, flags = 16 }: Segment): Buffer {
  const head = Buffer.alloc(20)
  head.writeUInt16BE(fromClient ? 4000 : 80, 0)
  head.writeUInt16BE(fromClient ? 80 : 4000, 2)
  head.writeUInt32BE(seq >>> 0, 4)
  head.writeUInt8(5 << 4, 12)
  head.writeUInt8(flags, 13)
  return Buffer.concat([head, data])
}

function ipv4(segment: Segment): Buffer {
  const payload = tcp(segment)
  const head = Buffer.alloc(20)
  head.writeUInt8(0x45, 0)
  head.writeUInt16BE(20 + payload.length, 2)
  head.writeUInt8(6, 9)
  head.set([127, 0, 0, segment.fromClient ? 1 : 2], 12)
  head.set([127, 0, 0, segment.fromClient ? 2 : 1], 16)
  return Buffer.concat([head, payload])
}

function ipv6(segment: Segment): Buffer {
  const payload = Buffer.concat([Buffer.from([6, 0, 1, 4, 0, 0, 0, 0]), tcp(segment)]) // after hop-by-hop options
  const head = Buffer.alloc(40)
  head.writeUInt8(0x60, 0)
  head.writeUInt16BE(payload.length, 4)
  head.writeUInt8(0, 6)
  head.writeUInt8(segment.fromClient ? 1 : 2, 23)
  head.writeUInt8(segment.fromClient ? 2 : 1, 39)
  return Buffer.concat([head, payload])
}

const padded = (bytes: Buffer): Buffer => Buffer.concat([bytes, Buffer.alloc((4 - (bytes.length % 4)) % 4)])

/** The link layers that are read, with what comes before the IP packet. */
const LINKS: Readonly<Record<string, { readonly link: number; readonly wrap: (ip: Buffer) => Buffer }>> = {
  loopback: { link: 0, wrap: (ip) => Buffer.concat([Buffer.from([2, 0, 0, 0]), ip]) },
  ethernet: { link: 1, wrap: (ip) => Buffer.concat([Buffer.alloc(12), etherType(ip), ip, Buffer.alloc(6)]) },
  vlan: {
    link: 1,
    wrap: (ip) => Buffer.concat([Buffer.alloc(12), Buffer.from([0x81, 0, 0, 5]), etherType(ip), ip]),
  },
  raw: { link: 101, wrap: (ip) => ip },
  SLL: { link: 113, wrap: (ip) => Buffer.concat([Buffer.alloc(14), etherType(ip), ip]) },
  SLL2: { link: 276, wrap: (ip) => Buffer.concat([etherType(ip), Buffer.alloc(18), ip]) },
}

function etherType(ip: Buffer): Buffer {
  return Buffer.from(ip[0]! >> 4 === 4 ? [0x08, 0x00] : [0x86, 0xdd])
}

function pcap(link: number, packets: readonly Buffer[], { little = true, nano = false } = {}): Buffer {
  const number = (value: number): Buffer => {
    const bytes = Buffer.alloc(4)
    if (little) bytes.writeUInt32LE(value)
    else bytes.writeUInt32BE(value)
    return bytes
  }
  const head = [
    number(nano ? 0xa1b23c4d : 0xa1b2c3d4),
    number(little ? 0x00040002 : 0x00020004),
    ...[0, 0, 65535, link].map(number),
  ]
  const records = packets.flatMap((packet, index) => [
    number(1_700_000_000),
    number(index * (nano ? 1_000_000 : 1000)),
    number(packet.length),
    number(packet.length),
    packet,
  ])
  return Buffer.concat([...head, ...records])
}

const block = (type: number, body: Buffer): Buffer => {
  const bytes = Buffer.alloc(12 + body.length)
  bytes.writeUInt32LE(type, 0)
  bytes.writeUInt32LE(bytes.length, 4)
  body.copy(bytes, 8)
  bytes.writeUInt32LE(bytes.length, bytes.length - 4)
  return bytes
}

function pcapng(link: number, packets: readonly Buffer[]): Buffer {
  const section = Buffer.alloc(16)
  section.writeUInt32LE(0x1a2b3c4d, 0)
  section.writeUInt16LE(1, 4)
  section.fill(0xff, 8)
  const face = Buffer.alloc(8 + 8 + 4)
  face.writeUInt16LE(link, 0)
  face.writeUInt16LE(9, 8) // if_tsresol
  face.writeUInt16LE(1, 10)
  face.writeUInt8(9, 12)
  return Buffer.concat([
    block(0x0a0d0d0a, section),
    block(1, face),
    block(0x0bad, Buffer.alloc(8)),
    ...packets.map((packet, index) => {
      const head = Buffer.alloc(20)
      const ticks = 1_700_000_000n * 1_000_000_000n + BigInt(index) * 1_000_000n
      head.writeUInt32LE(Number(ticks >> 32n), 4)
      head.writeUInt32LE(Number(ticks & 0xffffffffn), 8)
      head.writeUInt32LE(packet.length, 12)
      head.writeUInt32LE(packet.length, 16)
      return block(6, padded(Buffer.concat([head, packet])))
    }),
  ])
}

async function textsIn(capture: Buffer): Promise<readonly (string | undefined)[]> {
  const tape = await importTape(capture)
  expect(tape.format).toBe('pcap')
  return tape.turns.flatMap(({ trigger, response }) => [trigger?.text, response?.text])
}

const EXPECTED = [CALL, ANSWER, LATER, PONG]

test.each(Object.keys(LINKS))(
  'a session is read from packets of the link type %s, over IPv4 and IPv6',
  async (name) => {
    const { link, wrap } = LINKS[name]!
    for (const ip of [ipv4, ipv6]) {
      const packets = session([40]).map((segment) => wrap(ip(segment)))
      expect(await textsIn(pcap(link, packets))).toEqual(EXPECTED)
      expect(await textsIn(pcapng(link, packets))).toEqual(EXPECTED)
    }
  },
)

const times = async (capture: Buffer): Promise<unknown> => {
  const tape = await importTape(capture)
  return [tape.header.started, tape.turns.map(({ response }) => response?.t)]
}

test('captures of both byte orders and both resolutions have the same times', async () => {
  const packets = session([100]).map((segment) => ipv4(segment))
  const expected = await times(pcap(101, packets))
  expect(expected).toMatchObject(['2023-11-14T22:13:20.002Z', [expect.any(Number), expect.any(Number)]])
  for (const options of [{ little: false }, { nano: true }, { little: false, nano: true }])
    expect(await times(pcap(101, packets, options))).toEqual(expected)
  expect(await times(pcapng(101, packets))).toEqual(expected)
})

test('segments of any size, in any order, repeated and overlapping, give the same messages', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.integer({ min: 1, max: 90 }), { minLength: 1, maxLength: 5 }),
      fc.infiniteStream(fc.nat()),
      async (sizes, noise) => {
        const next = (): number => noise.next().value
        const packets = disturbed(session(sizes), next).map((segment) => ipv4(segment))
        expect(await textsIn(pcap(101, packets))).toEqual(EXPECTED)
      },
    ),
    { numRuns: 40 },
  )
})

const NO_CHANGE = 2
const NO_SEGMENT: Segment = { fromClient: false, seq: 0, data: Buffer.alloc(0) }

/** Swaps neighbours of one direction, repeats segments, and joins some with the bytes of the next. */
function disturbed(sent: readonly Segment[], next: () => number): readonly Segment[] {
  const disturbedOnes: Segment[] = []
  for (let at = 0; at < sent.length; at++) {
    const [one, two] = [sent[at]!, sent[at + 1] ?? NO_SEGMENT]
    const isSwappable = two.fromClient === one.fromClient && one.data.length > 0 && two.data.length > 0
    const change = isSwappable ? next() % 3 : NO_CHANGE
    if (change === 0) {
      disturbedOnes.push(two, one)
      at++
    } else if (change === 1) disturbedOnes.push({ ...one, data: Buffer.concat([one.data, two.data]) })
    else disturbedOnes.push(one)
    if (next() % 5 === 0) disturbedOnes.push(one)
  }
  return disturbedOnes
}

test('two connections with the same ports, one after the other, are two', async () => {
  const packets = [...session([50]), ...session([30])].map((segment) => ipv4(segment))
  expect(await textsIn(pcap(101, packets))).toEqual([...EXPECTED, ...EXPECTED])
})

test('missing bytes, encrypted connections and cut off packets are reported, and what can be read is kept', async () => {
  const all = session([60])
  const last = all.findLastIndex(({ data, fromClient }) => !fromClient && data.length > 0)
  const hello = { fromClient: true, seq: 1, data: Buffer.from([0x16, 3, 1, 0, 5, 1, 2, 3, 4, 5]) }
  const other = ipv4(hello)
  other.writeUInt16BE(4001, 20)
  const capture = pcap(101, [
    ...all.filter((_, index) => index !== last).map((segment) => ipv4(segment)),
    other,
  ])
  const tape = await importTape(capture.subarray(0, -3))
  expect(tape.turns[0]?.response?.text).toBe(ANSWER)
  expect(tape.notes.join('\n')).toContain('packet is cut off at the end of the file')
  const whole = await importTape(capture)
  expect(whole.notes.join('\n')).toContain('skipped 1 encrypted connections')
})

test('random bytes after the magic number end in an error or a note, and never hang', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom('d4c3b2a1', 'a1b2c3d4', '0a0d0d0a'),
      fc.uint8Array({ maxLength: 400 }),
      async (magic, rest) => {
        const capture = Buffer.concat([Buffer.from(magic, 'hex'), Buffer.alloc(20), rest])
        await expect(importTape(capture)).rejects.toMatchObject({ code: 'IMPORT_FAILED' })
      },
    ),
    { numRuns: 300 },
  )
})
