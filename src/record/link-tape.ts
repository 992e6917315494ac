import type { Direction } from '../wire/direction.ts'
import { jsonOnOneLine } from '../wire/one-line.ts'
import type { Redactor } from '../redact/redactor.ts'
import { toAsciiJson } from './ascii-json.ts'
import { encodeEventMembers, encodeMembers } from './frame-payloads.ts'
import type { TapeLog } from './tape-log.ts'

/** One link to one server, on a tape. */
export interface RecordedConnection {
  readonly server: string
  readonly conn: number
}

/** The part of a tape that one link writes, message by message. */
export class MessageRecorder {
  readonly #log: TapeLog
  readonly #place: string

  constructor(log: TapeLog, { server, conn }: RecordedConnection) {
    this.#log = log
    this.#place = `,"server":${toAsciiJson(server)},"conn":${conn}`
  }

  /** A message, as a value: it gets the spelling of JSON.stringify. */
  message(dir: Direction, message: unknown): void {
    this.#log.writeFrame(`${this.#place},"dir":"${dir}",${messagePayload(message, this.#log.redactor)}`)
  }

  /** A message that is JSON already: its spelling is kept. */
  text(dir: Direction, text: string): void {
    const { redactor } = this.#log
    this.#log.writeFrame(`${this.#place},"dir":"${dir}","msg":${jsonOnOneLine(redactor?.json(text) ?? text)}`)
  }

  event(event: string, details: Readonly<Record<string, unknown>> = {}): void {
    this.#log.writeFrame(`${this.#place}${encodeEventMembers(event, details, this.#log.redactor)}`)
  }
}

/** What JSON cannot hold is named on the tape, and the recording goes on. */
function messagePayload(message: unknown, redactor: Redactor | undefined): string {
  try {
    const text: string | undefined = JSON.stringify(message)
    if (text !== undefined) return `"msg":${redactor?.json(text) ?? text}`
  } catch (error) {
    return unserializablePayload(message, error instanceof Error ? error.message : String(error), redactor)
  }
  return unserializablePayload(message, 'it has no JSON form', redactor)
}

function unserializablePayload(message: unknown, why: string, redactor: Redactor | undefined): string {
  const raw = { raw: String(message), why: `not JSON: ${why}` }
  return encodeMembers(raw, redactor).slice(1)
}
