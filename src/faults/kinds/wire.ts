import { isObject, member } from '../../json/parse.ts'
import { parseDuration } from '../../text.ts'
import type { Fault, FaultKind } from '../fault.ts'
import type { WirePlan } from '../wire.ts'

const SMALL_PIECE = 7

/** The forms that have a name. Those that need a stream of their own for the response are refused over stdio. */
const FORMS: Readonly<Record<string, WireForm>> = {
  sliced: {
    description: 'is answered in pieces of a few bytes',
    plan: { pieceBytes: SMALL_PIECE, pauseMs: 5, jitterMs: 5 },
  },
  slow: { description: 'is answered at 1,000 bytes a second', plan: bandwidth(1000) },
  'cut-character': {
    description: 'is answered in two pieces, cut inside a character',
    plan: { cutInside: 'character', pauseMs: 50 },
  },
  'cut-token': {
    description: 'is answered in two pieces, cut inside a JSON token',
    plan: { cutInside: 'token', pauseMs: 50 },
  },
  'cut-event': {
    description: 'is answered in two pieces, cut inside a server-sent event',
    plan: { cutInside: 'event', pauseMs: 50 },
    needs: 'http',
  },
  'slow-close': {
    description: 'is answered, and the stream ends two seconds later',
    plan: { closeAfterMs: 2000 },
    needs: 'http',
  },
  reset: { description: 'gets half a response, and the connection is reset', plan: { stop: 'reset' } },
  'half-close': {
    description: 'gets half a response, and the stream ends',
    plan: { stop: 'half-close' },
  },
}

interface WireForm {
  readonly description: string
  readonly plan: WirePlan
  readonly needs?: 'http'
}

/** Writes the bytes of the response in another way than in one piece. */
export const wire: FaultKind = {
  name: 'wire',
  help: 'Write the bytes of the response in pieces, slowly, or only in part',
  expects: `${Object.keys(FORMS).join(', ')}; or bandwidth (bytes per second); or bytes (per piece), pause and jitter`,
  example: 'sliced',
  variants: Object.keys(FORMS),
  parse: (value) => {
    const form =
      typeof value === 'string' && Object.hasOwn(FORMS, value) ? FORMS[value] : parseWireForm(value)
    return form && wireFault(form)
  },
}

function wireFault({ description, plan, needs }: WireForm): Omit<Fault, 'kind'> {
  return {
    description,
    hidesResponse: plan.stop !== undefined,
    needs: needs ?? 'wire',
    apply: ({ play, reply, connection }) =>
      play((text, source) => {
        if (text !== undefined) connection.wire?.(plan)
        reply(text, source)
      }),
  }
}

function parseWireForm(value: unknown): WireForm | undefined {
  if (!isObject(value)) return undefined
  const [rate, bytes] = [member(value, 'bandwidth'), member(value, 'bytes')]
  const [pauseMs, jitterMs] = [parseDuration(value['pause'] ?? 0), parseDuration(value['jitter'] ?? 0)]
  const names = Object.keys(value)
  if (rate !== undefined) {
    if (names.length > 1 || !isCount(rate)) return undefined
    return { description: `is answered at ${rate} bytes a second`, plan: bandwidth(rate) }
  }
  if (names.some((name) => !['bytes', 'pause', 'jitter'].includes(name))) return undefined
  if (!isCount(bytes) || pauseMs === undefined || jitterMs === undefined) return undefined
  return {
    description: `is answered in pieces of ${bytes} bytes`,
    plan: { pieceBytes: bytes, pauseMs, jitterMs },
  }
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && Number(value) > 0
}

/** Writes a piece every 20 ms, or one byte at a time if it is slower than that. */
function bandwidth(bytesPerSecond: number): WirePlan {
  const pieceBytes = Math.max(1, Math.round(bytesPerSecond / 50))
  return { pieceBytes, pauseMs: (1000 * pieceBytes) / bytesPerSecond }
}
