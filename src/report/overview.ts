import type { TapeReader } from '../store/file/read.ts'
import type { EventFrame, Frame, RawFrame, StderrFrame } from '../tape/frame.ts'
import { withLateServers } from '../tape/joined-servers.ts'
import type { RecordedMessage } from '../tape/turn.ts'
import { TapeConversations, messagesInFrame } from '../tape/turn-builder.ts'
import { ExchangeLog } from './exchanges/exchange-log.ts'
import type { ExchangeRows } from './exchange-rows.ts'
import {
  formatTitleCounts,
  MAX_NOTE_LINES,
  outsideMessageTitle,
  rawLine,
  type TruncatedLines,
  type InspectionNotes,
} from './inspect/notes.ts'
import type { InspectionHeading } from './inspect/inspect-text.ts'
import { summarizeLatency } from './latency.ts'
import { StderrPreview } from './stderr-head.ts'

/** What a tape tells at a glance: a row of numbers for each exchange, and counts of the rest. */
export interface Overview extends InspectionHeading {
  readonly exchanges: ExchangeRows
  readonly notes: InspectionNotes
}

/** Goes through a tape once; what is in memory does not grow with the length of its messages. */
export async function readOverview(reader: TapeReader): Promise<Overview> {
  const builder = new OverviewBuilder()
  for await (const batch of reader.batches()) for (const frame of batch) builder.add(frame)
  return builder.finish(reader)
}

class OverviewBuilder {
  readonly #log = new ExchangeLog((spoken) => this.#addOutside(spoken))
  readonly #conversations = new TapeConversations(this.#log)
  readonly #joined: EventFrame[] = []
  readonly #outsideCounts = new Map<string, number>()
  readonly #stderr = new Map<string, StderrPreview>()
  readonly #raw: string[] = []
  #rawCount = 0
  #unknownFrames = 0
  #frames = 0
  #durationMs = 0

  add(frame: Frame): void {
    this.#frames++
    if (frame.kind === 'message') for (const spoken of messagesInFrame(frame)) this.#conversations.add(spoken)
    else this.#addOther(frame)
    this.#durationMs = Math.max(this.#durationMs, frame.t)
  }

  finish({ path, header, state: { ended, problems } }: TapeReader): Overview {
    const { rows, connections, misses } = this.#log
    const notes = {
      latency: summarizeLatency(rows.latencies()),
      misses: misses.toSorted((a, b) => a.sequence - b.sequence),
      outside: formatTitleCounts(this.#outsideCounts),
      stderr: joinTruncated([...this.#stderr.values()].map((head) => head.lines())),
      raw: { lines: this.#raw, count: this.#rawCount },
      events: [],
      problems,
      ended,
      unknownFrames: this.#unknownFrames,
    }
    return {
      path,
      header: withLateServers(header, this.#joined),
      frames: this.#frames,
      durationMs: this.#durationMs,
      connections: connections.facts(),
      exchanges: rows,
      notes,
    }
  }

  #addOther(frame: Exclude<Frame, { kind: 'message' }>): void {
    switch (frame.kind) {
      case 'http':
        return this.#log.addHttpStatus(frame)
      case 'event':
        return this.#addEvent(frame)
      case 'stderr':
        return this.#addStderr(frame)
      case 'raw':
        return this.#addRaw(frame)
      case 'other':
        this.#unknownFrames++
    }
  }

  #addEvent(frame: EventFrame): void {
    this.#log.connections.addEvent(frame)
    if (frame.event === 'server') this.#joined.push(frame)
  }

  #addStderr(frame: StderrFrame): void {
    this.#log.connections.track(frame, 'stderr', frame.n)
    const key = JSON.stringify([frame.server, frame.conn])
    const head = this.#stderr.get(key) ?? new StderrPreview(MAX_NOTE_LINES)
    this.#stderr.set(key, head)
    head.add(frame.stderr)
  }

  #addRaw(frame: RawFrame): void {
    this.#log.connections.track(frame, 'raw', frame.n)
    if (frame.cut !== undefined) this.#conversations.addCut(frame)
    if (++this.#rawCount <= MAX_NOTE_LINES) this.#raw.push(rawLine(frame))
  }

  #addOutside(spoken: RecordedMessage): void {
    this.#log.connections.track(spoken, 'outside', spoken.n)
    const title = outsideMessageTitle(spoken)
    this.#outsideCounts.set(title, (this.#outsideCounts.get(title) ?? 0) + 1)
  }
}

function joinTruncated(parts: readonly TruncatedLines[]): TruncatedLines {
  const count = parts.reduce((sum, part) => sum + part.count, 0)
  return { lines: parts.flatMap(({ lines }) => lines).slice(0, MAX_NOTE_LINES), count }
}
