import type { Tape } from '../../store/read.ts'
import type { Spoken } from '../../tape/turn.ts'

/** How the recorded server answered an HTTP request. */
export interface RecordedHead {
  readonly status: number
  readonly isStream: boolean
}

/** The heads of a tape's HTTP answers; a tape of a stdio server has none. */
export class RecordedHeads {
  readonly #byExchange = new Map<number, RecordedHead>()

  constructor(rest: Tape['rest']) {
    for (const frame of rest) {
      if (frame.kind !== 'http' || !('status' in frame.http) || frame.x === undefined) continue
      const { status, headers } = frame.http
      const isStream = headers.some(
        ([name, value]) => name.toLowerCase() === 'content-type' && value.startsWith('text/event-stream'),
      )
      this.#byExchange.set(frame.x, { status, isStream })
    }
  }

  of(spoken: Spoken | undefined): RecordedHead | undefined {
    return spoken?.x === undefined ? undefined : this.#byExchange.get(spoken.x)
  }
}
