import type { TapeReader } from '../store/read.ts'
import type { EventFrame, Frame, RawFrame, StderrFrame } from '../tape/frame.ts'
import { withJoinedServers } from '../tape/joined-servers.ts'
import type { Spoken } from '../tape/turn.ts'
import { Conversations, spokenIn } from '../tape/turns.ts'
import { ExchangeLog } from './exchange-log.ts'
import type { ExchangeRows } from './exchange-rows.ts'
import { countLines, FEW, outsideTitle, rawLine, type FirstLines, type Notes } from './inspect-notes.ts'
import type { Heading } from './inspect-text.ts'
import { summarizeLatency } from './latency.ts'
import { StderrHead } from './stderr-head.ts'

/** What a tape tells at a glance: a row of numbers for each exchange, and counts of the rest. */
export interface Overview extends Heading {
  readonly exchanges: ExchangeRows
  readonly notes: Notes
}

/** Goes through a tape once; what is in memory does not grow with the length of its messages. */
export async function overviewOf(reader: TapeReader): Promise<Overview> {
  const builder = new OverviewBuilder()
  for await (const batch of reader.batches()) for (const frame of batch) builder.add(frame)
  return builder.taken(reader)
}

class OverviewBuilder {
  readonly #log = new ExchangeLog((spoken) => this.#outside(spoken))
  readonly #conversations = new Conversations(this.#log)
  readonly #joined: EventFrame[] = []
  readonly #outsideCounts = new Map<string, number>()
  readonly #stderr = new Map<string, StderrHead>()
  readonly #raw: string[] = []
  #rawCount = 0
  #unknownFrames = 0
  #frames = 0
  #durationMs = 0

  add(frame: Frame): void {
    this.#frames++
    if (frame.kind === 'message') for (const spoken of spokenIn(frame)) this.#conversations.add(spoken)
    else this.#addOther(frame)
    this.#durationMs = Math.max(this.#durationMs, frame.t)
  }

  taken({ path, header, state: { ended, problems } }: TapeReader): Overview {
    const { rows, links, misses } = this.#log
    const notes = {
      latency: summarizeLatency(rows.latencies()),
      misses: misses.toSorted((a, b) => a.sequence - b.sequence),
      outside: countLines(this.#outsideCounts),
      stderr: joined([...this.#stderr.values()].map((head) => head.lines())),
      raw: { lines: this.#raw, count: this.#rawCount },
      events: [],
      problems,
      ended,
      unknownFrames: this.#unknownFrames,
    }
    return {
      path,
      header: withJoinedServers(header, this.#joined),
      frames: this.#frames,
      durationMs: this.#durationMs,
      connections: links.facts(),
      exchanges: rows,
      notes,
    }
  }

  #addOther(frame: Exclude<Frame, { kind: 'message' }>): void {
    switch (frame.kind) {
      case 'http':
        return this.#log.status(frame)
      case 'event':
        return this.#event(frame)
      case 'stderr':
        return this.#stderrOf(frame)
      case 'raw':
        return this.#rawFrame(frame)
      case 'other':
        this.#unknownFrames++
    }
  }

  #event(frame: EventFrame): void {
    this.#log.links.event(frame)
    if (frame.event === 'server') this.#joined.push(frame)
  }

  #stderrOf(frame: StderrFrame): void {
    this.#log.links.trace(frame, 'stderr', frame.n)
    const key = JSON.stringify([frame.server, frame.conn])
    const head = this.#stderr.get(key) ?? new StderrHead(FEW)
    this.#stderr.set(key, head)
    head.add(frame.stderr)
  }

  #rawFrame(frame: RawFrame): void {
    this.#log.links.trace(frame, 'raw', frame.n)
    if (frame.cut !== undefined) this.#conversations.addCut(frame)
    if (++this.#rawCount <= FEW) this.#raw.push(rawLine(frame))
  }

  #outside(spoken: Spoken): void {
    this.#log.links.trace(spoken, 'outside', spoken.n)
    const title = outsideTitle(spoken)
    this.#outsideCounts.set(title, (this.#outsideCounts.get(title) ?? 0) + 1)
  }
}

function joined(parts: readonly FirstLines[]): FirstLines {
  const count = parts.reduce((sum, part) => sum + part.count, 0)
  return { lines: parts.flatMap(({ lines }) => lines).slice(0, FEW), count }
}
