import { headerOf, type RawHeaders } from '../transport/http-heads.ts'
import type { ExchangeWatcher, RequestLine } from '../transport/http-passage.ts'
import type { Direction } from '../wire/direction.ts'
import type { HttpFrame } from '../tape/frame.ts'
import { AfterRound } from './after-round.ts'
import { canDecode, decodedInto } from './body-decoder.ts'
import { anyBody } from './any-body.ts'
import { eventStream, noBody, wholeBody, type BodyTape, type StreamOptions } from './http-bodies.ts'
import { HttpConnections } from './http-connections.ts'
import { eventMembers } from './event-members.ts'
import { redactedHeaders } from './redacted-head.ts'
import { isMirroring, withWaitingHead } from './mirrored-head.ts'
import { lookedFrames } from './looked-frames.ts'
import { MessageFrames } from './message-frames.ts'
import type { MessageLook } from './message-look.ts'
import type { Summary } from './recording-summary.ts'
import type { TapeLog } from './tape-log.ts'

export interface HttpTapeOptions {
  readonly log: TapeLog
  /** What the server is called on the tape. */
  readonly server: (line?: RequestLine) => string | undefined
  /** The server, when there is only one. Without it the client names one with each request, and every body that can be told from a secret is taped. */
  readonly url?: URL
  readonly maxBytes: number
  readonly look?: MessageLook | undefined
  readonly cutBytes?: number | undefined
  /** Told when a server wants to know who asks. */
  readonly onChallenge?: (() => void) | undefined
}

/** The part of a tape that an HTTP proxy writes. */
export class HttpTape {
  readonly #options: HttpTapeOptions
  readonly #later: AfterRound
  readonly #frames: MessageFrames
  readonly #connections = new HttpConnections()
  readonly #decoding = new Set<Promise<void>>()
  #exchanges = 0

  constructor(options: HttpTapeOptions) {
    this.#options = options
    this.#later = new AfterRound(options.log)
    this.#frames = new MessageFrames(options.log, () => this.#later.time, options.cutBytes)
  }

  /** Looks on at one exchange. */
  readonly watch = (line: RequestLine): ExchangeWatcher => {
    const conn = this.#connections.of(line)
    const x = ++this.#exchanges
    const place = `${this.#server(line)},"conn":${conn},"x":${x}`
    const putHead = (): void =>
      this.#head(place, 'c2s', () => ({
        method: line.method,
        path: this.#url(line.path),
        headers: redactedHeaders(line.headers, this.#options.log.redactor),
      }))
    return this.#watcher(line, { conn, place, scope: `${conn} ${this.#options.server(line)} ` }, putHead)
  }

  /** A request that was not let through. */
  readonly refused = (why: string): void => {
    this.happened('refused', { why })
  }

  /** Something that belongs to no exchange. */
  happened(event: string, details: Readonly<Record<string, unknown>>, line?: RequestLine): void {
    this.#later.add(() => this.#event(this.#server(line), event, details))
  }

  get log(): TapeLog {
    return this.#options.log
  }

  /** Puts on the tape now what would wait for the end of this round. */
  readonly settle = (): void => this.#later.run()

  /** Waits for what is still being decoded, and finishes the tape, with these further members of its end; may be called twice. */
  async finish(members = ''): Promise<Summary> {
    while (this.#decoding.size > 0) await Promise.all(this.#decoding)
    this.#later.run()
    return this.#options.log.finish(members)
  }

  #server(line?: RequestLine): string {
    const name = this.#options.server(line)
    return name === undefined ? '' : `,"server":${JSON.stringify(name)}`
  }

  #watcher(line: RequestLine, link: Link, putHead: () => void): ExchangeWatcher {
    const isTaped = this.#isTaped(line.path)
    const request = this.#request(
      line,
      isTaped ? this.#body('c2s', line, link, line.headers) : noBody,
      putHead,
    )
    let answer = noBody
    return {
      request,
      answered: (status, headers) => {
        this.#connections.answered(link.conn, headers)
        if (status === UNAUTHORIZED) this.#options.onChallenge?.()
        this.#head(link.place, 's2c', () => ({
          status,
          headers: redactedHeaders(headers, this.#options.log.redactor),
        }))
        if (isTaped) answer = this.#body('s2c', line, link, headers)
        return answer
      },
      aborted: (by, why) => {
        request.cut()
        answer.cut()
        const details = why === undefined ? { by } : { by, why }
        this.#later.add(() => this.#event(link.place, 'abort', details))
      },
      unreachable: (why) => {
        request.cut()
        this.#later.add(() => this.#event(link.place, 'unreachable', { why }))
      },
    }
  }

  #request(line: RequestLine, body: BodyTape, putHead: () => void): BodyTape {
    const { log, maxBytes } = this.#options
    const { redactor } = log
    if (redactor !== undefined && isMirroring(line.headers))
      return withWaitingHead(body, {
        putHead,
        maxBytes,
        learn: (text) => log.put(() => void redactor.json(text)),
      })
    putHead()
    return body
  }

  #head(place: string, dir: Direction, head: () => HttpFrame['http']): void {
    this.#later.add(() => this.#put(`${place},"dir":"${dir}","http":${JSON.stringify(head())}`))
  }

  #event(place: string, event: string, details: Readonly<Record<string, unknown>>): void {
    this.#put(`${place}${eventMembers(event, details, this.#options.log.redactor)}`)
  }

  #put(rest: string): void {
    this.#options.log.gather(this.#later.time, rest)
  }

  #body(dir: Direction, line: RequestLine, link: Link, headers: RawHeaders): BodyTape {
    const { look } = this.#options
    const options = {
      frames: look === undefined ? this.#frames : lookedFrames(this.#frames, look, dir, link),
      place: `${link.place},"dir":"${dir}"`,
      maxBytes: this.#options.maxBytes,
    }
    const encoding = headerOf(headers, 'content-encoding')?.trim().toLowerCase() ?? 'identity'
    if (encoding !== 'identity' && !canDecode(encoding))
      return this.#options.url === undefined
        ? noBody
        : this.#afterwards(wholeBody(options, `content-encoding ${encoding}`))
    const isStream = dir === 's2c' && isEventStream(headers)
    const onEvent: StreamOptions['onEvent'] = (event, details) => this.#event(link.place, event, details)
    const onEndpoint = (data: string): void => this.#endpoint(line, link.conn, data)
    const whole = this.#options.url === undefined ? anyBody(options, headers) : wholeBody(options)
    const body = this.#afterwards(isStream ? eventStream({ ...options, onEvent, onEndpoint }) : whole)
    return encoding === 'identity' ? body : decodedInto(encoding, body, this.#track)
  }

  #afterwards({ chunk, end, cut }: BodyTape): BodyTape {
    return {
      chunk: (bytes) => this.#later.add(() => chunk(bytes)),
      end: () => this.#later.add(end),
      cut: () => this.#later.add(cut),
    }
  }

  readonly #track = (done: Promise<void>): void => {
    this.#decoding.add(done)
    void done.finally(() => this.#decoding.delete(done))
  }

  #endpoint({ path, origin }: RequestLine, conn: number, data: string): void {
    const base = `${origin ?? this.#options.url?.origin}${path}`
    if (!URL.canParse(data, base)) return
    this.#options.log.redactor?.learnUrl(data)
    const named = new URL(data, base)
    const address = named.pathname + named.search
    this.#connections.endpoint(conn, origin === undefined ? address : named.origin + address)
  }

  #url(url: string): string {
    return this.#options.log.redactor?.url(url) ?? url
  }

  /** Other paths of the server are none of a tape's business: tokens are fetched there. */
  #isTaped(path: string): boolean {
    if (this.#options.url === undefined) return true
    const { pathname } = this.#options.url
    const query = path.indexOf('?')
    const name = query < 0 ? path : path.slice(0, query)
    const isBelow = pathname !== '/' && name.startsWith(pathname.endsWith('/') ? pathname : `${pathname}/`)
    return name === pathname || isBelow || this.#connections.isEndpoint(path)
  }
}

const UNAUTHORIZED = 401

/** Where the frames of one exchange stand on the tape. */
interface Link {
  readonly conn: number
  readonly place: string
  readonly scope: string
}

function isEventStream(headers: RawHeaders): boolean {
  return headerOf(headers, 'content-type')?.trim().toLowerCase().startsWith('text/event-stream') === true
}
