import { ReelayError } from '../../errors.ts'
import { type CapturedSegment, TcpStreams } from './tcp-streams.ts'
import { HttpConversations } from './http-streams.ts'
import { recordingOfExchanges } from './http-exchanges.ts'
import type { ImportedRecording, ImportFormat } from './import-format.ts'
import type { ImportSource } from './import-source.ts'

/** Packet captures of tcpdump, tshark and Wireshark: pcap and pcapng, with HTTP/1.1 in clear text. */
export const pcapFormat: ImportFormat = {
  name: 'pcap',
  description: 'packet captures (pcap, pcapng) with HTTP/1.1 in clear text',
  reject: ({ bytes }) => (kindOf(bytes) === undefined ? 'does not begin like a packet capture' : undefined),
  read: readCapture,
}

function readCapture({ bytes }: ImportSource): ImportedRecording {
  const conversations = new HttpConversations()
  const streams = new TcpStreams(conversations)
  const notes = new Map<string, number>()
  const count = (what: string): void => void notes.set(what, (notes.get(what) ?? 0) + 1)
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const packets = kindOf(bytes) === 'pcapng' ? pcapngPackets(view, count) : pcapPackets(view, count)
  for (const packet of packets) {
    const segment = tcpSegment(packet, count)
    if (segment !== undefined) streams.add(segment)
  }
  streams.end()
  const recording = recordingOfExchanges(conversations.exchanges())
  if (recording.frames.length === 0)
    throw new ReelayError(
      'IMPORT_FAILED',
      `the capture contains no MCP messages over HTTP (${conversations.summary()})`,
      {
        hint: 'encrypted connections cannot be read: capture on the side without TLS, or record with reelay record --forward',
      },
    )
  return {
    ...recording,
    notes: [
      ...[...notes].map(([what, times]) => `${times} ${what}`),
      ...conversations.notes(),
      ...(streams.lost > 0
        ? [`${streams.lost} bytes are missing from the capture: what follows them was skipped`]
        : []),
      ...(recording.notes ?? []),
    ],
  }
}

interface Packet {
  /** Milliseconds since 1970. */
  readonly at: number
  readonly link: number
  readonly data: DataView
}

type Count = (what: string) => void

function kindOf(bytes: Uint8Array): 'pcap' | 'pcapng' | undefined {
  if (bytes.length < PCAP_HEADER) return undefined
  const magic = new DataView(bytes.buffer, bytes.byteOffset).getUint32(0)
  if (magic === PCAPNG_SECTION) return 'pcapng'
  return PCAP_MAGICS.has(magic) ? 'pcap' : undefined
}

const PCAP_HEADER = 24
const PCAPNG_SECTION = 0x0a0d0d0a
/** The magic numbers as big-endian readers see them, with the order of bytes and the unit of times. */
const PCAP_MAGICS: ReadonlyMap<number, { readonly little: boolean; readonly unit: number }> = new Map([
  [0xa1b2c3d4, { little: false, unit: 1e3 }],
  [0xd4c3b2a1, { little: true, unit: 1e3 }],
  [0xa1b23c4d, { little: false, unit: 1e6 }],
  [0x4d3cb2a1, { little: true, unit: 1e6 }],
])

const CUT_PACKET = 'packets are cut off by the snapshot length of the capture'

function* pcapPackets(view: DataView, count: Count): Generator<Packet> {
  const { little, unit } = PCAP_MAGICS.get(view.getUint32(0)) ?? { little: true, unit: 1e3 }
  const link = view.getUint32(20, little) & 0xffff
  let at = PCAP_HEADER
  while (at + 16 <= view.byteLength) {
    const length = view.getUint32(at + 8, little)
    if (length < view.getUint32(at + 12, little)) count(CUT_PACKET)
    if (at + 16 + length > view.byteLength) return count('packet is cut off at the end of the file')
    const time = view.getUint32(at, little) * 1000 + view.getUint32(at + 4, little) / unit
    yield { at: time, link, data: part(view, at + 16, length) }
    at += 16 + length
  }
  if (at < view.byteLength) count('packet is cut off at the end of the file')
}

/** An interface of a pcapng file. */
interface CaptureInterface {
  readonly link: number
  /** Units of its times per second. */
  readonly perSecond: bigint
}

function* pcapngPackets(view: DataView, count: Count): Generator<Packet> {
  let little = true
  let interfaces: CaptureInterface[] = []
  let at = 0
  while (at + 12 <= view.byteLength) {
    const isSection = view.getUint32(at) === PCAPNG_SECTION
    if (isSection) {
      little = view.getUint32(at + 8, true) === 0x1a2b3c4d
      interfaces = []
    }
    const [type, length] = [view.getUint32(at, little), view.getUint32(at + 4, little)]
    if (length < 12 || length % 4 !== 0 || at + length > view.byteLength)
      return count('block is cut off or has an invalid length; the rest of the file was not read')
    if (type === 1) interfaces.push(readInterface(view, at, length, little))
    const packet = isSection ? undefined : blockPacket(part(view, at, length), type, { little, interfaces })
    if (packet !== undefined) yield packet
    at += length
  }
  if (at < view.byteLength) count('block is cut off at the end of the file')
}

function readInterface(view: DataView, block: number, length: number, little: boolean): CaptureInterface {
  const link = view.getUint16(block + 8, little)
  let perSecond = 1_000_000n
  for (let at = block + 16; at + 4 <= block + length - 4;) {
    const [code, size] = [view.getUint16(at, little), view.getUint16(at + 2, little)]
    if (code === 0) break
    if (code === 9 && size === 1) {
      const resolution = view.getUint8(at + 4)
      perSecond = (resolution & 0x80 ? 2n : 10n) ** BigInt(resolution & 0x7f)
    }
    at += 4 + Math.ceil(size / 4) * 4
  }
  return { link, perSecond }
}

interface SectionState {
  readonly little: boolean
  readonly interfaces: readonly CaptureInterface[]
}

/** The packet of an enhanced or simple packet block. */
function blockPacket(
  block: DataView,
  type: number,
  { little, interfaces }: SectionState,
): Packet | undefined {
  const room = block.byteLength - 12
  if (type === 6 && room >= 20) {
    const from = interfaces[block.getUint32(8, little)]
    const length = block.getUint32(20, little)
    if (from === undefined || length > room - 20) return undefined
    const ticks = (BigInt(block.getUint32(12, little)) << 32n) | BigInt(block.getUint32(16, little))
    const microseconds = (ticks * 1_000_000n) / from.perSecond
    return { at: Number(microseconds) / 1000, link: from.link, data: part(block, 28, length) }
  }
  const [first] = interfaces
  if (type !== 3 || room < 4 || first === undefined) return undefined
  return { at: 0, link: first.link, data: part(block, 12, Math.min(block.getUint32(8, little), room - 4)) }
}

function part(view: DataView, start: number, length: number): DataView {
  return new DataView(view.buffer, view.byteOffset + start, length)
}

/** Where the network packet begins, and its EtherType or IP version, by link type. */
function networkPacket({ link, data }: Packet): DataView | undefined {
  const skip = (bytes: number): DataView | undefined =>
    data.byteLength > bytes ? part(data, bytes, data.byteLength - bytes) : undefined
  switch (link) {
    case 0: // BSD loopback, in the order of bytes of the machine
    case 108: // OpenBSD loopback
      return skip(4)
    case 1:
      return ethernetPayload(data)
    case 12:
    case 14:
    case 101: // raw IP
    case 228:
    case 229:
      return data
    case 113: // Linux cooked
      return skip(16)
    case 276: // Linux cooked, version 2
      return skip(20)
    default:
      return undefined
  }
}

function ethernetPayload(data: DataView): DataView | undefined {
  let at = 12
  while (at + 2 <= data.byteLength) {
    const type = data.getUint16(at)
    at += 2
    if (type === 0x8100 || type === 0x88a8) at += 2
    else return type === 0x0800 || type === 0x86dd ? part(data, at, data.byteLength - at) : undefined
  }
  return undefined
}

function tcpSegment(packet: Packet, count: Count): CapturedSegment | undefined {
  const ip = networkPacket(packet)
  if (ip === undefined) {
    if (!KNOWN_LINKS.has(packet.link))
      count(`packets have the link type ${packet.link}, which is not supported`)
    return undefined
  }
  if (ip.byteLength < 20) return undefined
  const version = ip.getUint8(0) >> 4
  const found = version === 4 ? ipv4Payload(ip, count) : version === 6 ? ipv6Payload(ip) : undefined
  if (found === undefined) return undefined
  const { tcp, from, to } = found
  const offset = tcp.byteLength < 20 ? 0 : (tcp.getUint8(12) >> 4) * 4
  if (offset < 20 || offset > tcp.byteLength) return undefined
  const flags = tcp.getUint8(13)
  return {
    at: packet.at,
    from: `${from}:${tcp.getUint16(0)}`,
    to: `${to}:${tcp.getUint16(2)}`,
    seq: tcp.getUint32(4),
    isSyn: (flags & 2) !== 0,
    isFin: (flags & 1) !== 0,
    isReset: (flags & 4) !== 0,
    data: new Uint8Array(tcp.buffer, tcp.byteOffset + offset, tcp.byteLength - offset),
  }
}

const KNOWN_LINKS = new Set([0, 1, 12, 14, 101, 108, 113, 228, 229, 276])

interface IpPayload {
  readonly tcp: DataView
  readonly from: string
  readonly to: string
}

const TCP = 6

function ipv4Payload(ip: DataView, count: Count): IpPayload | undefined {
  const header = (ip.getUint8(0) & 15) * 4
  const total = ip.getUint16(2)
  if (ip.getUint8(9) !== TCP || header < 20) return undefined
  if ((ip.getUint16(6) & 0x3fff) !== 0) {
    count('packets are IP fragments, which are not put together')
    return undefined
  }
  // Offloading leaves the length empty.
  const length = total === 0 ? ip.byteLength : Math.min(total, ip.byteLength)
  if (length < header) return undefined
  return { tcp: part(ip, header, length - header), from: ipv4Name(ip, 12), to: ipv4Name(ip, 16) }
}

function ipv4Name(ip: DataView, at: number): string {
  return [0, 1, 2, 3].map((byte) => ip.getUint8(at + byte)).join('.')
}

function ipv6Payload(ip: DataView): IpPayload | undefined {
  if (ip.byteLength < 40) return undefined
  const payload = ip.getUint16(4)
  const end = payload === 0 ? ip.byteLength : Math.min(40 + payload, ip.byteLength)
  let [next, at] = [ip.getUint8(6), 40]
  while (IPV6_EXTENSIONS.has(next) && at + 8 <= end)
    [next, at] = [ip.getUint8(at), at + (ip.getUint8(at + 1) + 1) * 8]
  if (next !== TCP || at > end) return undefined
  return { tcp: part(ip, at, end - at), from: ipv6Name(ip, 8), to: ipv6Name(ip, 24) }
}

/** Hop-by-hop options, routing and destination options. */
const IPV6_EXTENSIONS = new Set([0, 43, 60])

function ipv6Name(ip: DataView, at: number): string {
  const groups = Array.from({ length: 8 }, (_, group) => ip.getUint16(at + 2 * group).toString(16))
  return `[${groups.join(':').replace(/(^|:)0(:0)+(:|$)/, '::')}]`
}
