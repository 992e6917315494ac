import type { Direction } from '../wire/direction.ts'
import { asciiJson } from './ascii-json.ts'
import type { TapeLog } from './tape-log.ts'

/** One link to one server, on a tape. */
export interface LinkPlace {
  readonly server: string
  readonly conn: number
}

/** The part of a tape that one link writes, message by message. */
export class LinkTape {
  readonly #log: TapeLog
  readonly #place: string

  constructor(log: TapeLog, { server, conn }: LinkPlace) {
    this.#log = log
    this.#place = `,"server":${asciiJson(server)},"conn":${conn}`
  }

  /** A message, as a value: it gets the spelling of JSON.stringify. */
  message(dir: Direction, message: unknown): void {
    this.#log.frame(`${this.#place},"dir":"${dir}",${payloadOf(message)}`)
  }

  event(event: string, details: Readonly<Record<string, unknown>> = {}): void {
    this.#log.frame(`${this.#place},${JSON.stringify({ event, ...details }).slice(1, -1)}`)
  }
}

/** What JSON cannot hold is named on the tape, and the recording goes on. */
function payloadOf(message: unknown): string {
  try {
    const text: string | undefined = JSON.stringify(message)
    if (text !== undefined) return `"msg":${text}`
  } catch (error) {
    return rawPayload(message, error instanceof Error ? error.message : String(error))
  }
  return rawPayload(message, 'it has no JSON form')
}

function rawPayload(message: unknown, why: string): string {
  return `"raw":${JSON.stringify(String(message))},"why":${JSON.stringify(`not JSON: ${why}`)}`
}
