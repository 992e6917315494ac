import { briefRequest } from '../match/brief.ts'
import { missAsError } from '../match/miss-error.ts'
import type { Miss } from '../match/miss.ts'
import { isId } from '../wire/id.ts'
import { itemsOf } from '../wire/members.ts'
import {
  member,
  type Batch,
  type Invalid,
  type Message,
  type Notification,
  type Request,
} from '../wire/message.ts'
import type { Drift } from './drift.ts'
import { HeardTexts } from './heard-texts.ts'
import { liveOf } from './live.ts'
import { answerText, type OwnAnswer, type RpcError } from './own-answer.ts'
import { Performance } from './performance.ts'
import { batchReply, type Reply } from './reply.ts'
import type { LiveRedaction } from './live-redaction.ts'
import type { Cue, Script } from './script.ts'

export interface PlayerOptions {
  /** The part to play, of which nothing is played yet. */
  readonly script: Script
  readonly send: (text: string) => void
  /** What is done with the secrets of the client, when those of the tape have stand-ins. */
  readonly redaction?: LiveRedaction
  readonly onMiss?: (miss: Miss) => void
  readonly onNote?: (note: string) => void
  /** Calls back once the client had a chance to read what was sent; without it, at once. */
  readonly later?: (resume: () => void) => void
}

/** Plays the recorded server to one live client. It does no I/O: texts come in by `receive` and leave by `send`. */
export class Player {
  readonly #options: PlayerOptions
  readonly #script: Script
  readonly #performance: Performance
  readonly #heard = new HeardTexts()
  readonly #misses: Miss[] = []
  readonly #notes: string[] = []
  #answered = 0
  #asItCame = ''

  constructor(options: PlayerOptions) {
    const { send, later = (resume) => resume() } = options
    this.#options = options
    this.#script = options.script
    const note = (text: string): void => this.#note(text)
    this.#performance = new Performance({ turns: this.#script.turns, send, note, later })
  }

  /** Says what the server said before the client spoke. */
  start(): void {
    for (const turn of this.#script.opening())
      this.#performance.play({ turn, live: undefined, reply: ignore })
  }

  /** Takes one JSON text of the client: a message, or a batch of them. */
  receive(heard: string): void {
    const { redaction } = this.#options
    const text = redaction?.isOurs === true ? redaction.text(heard) : heard
    this.#asItCame = heard
    const message = this.#heard.read(text)
    if (message === undefined) return this.refuse(NOT_JSON)
    if (message.kind === 'batch') this.#takeBatch(text, message)
    else this.#take(text, message, this.#send)
  }

  /** Answers what cannot be read as a message. */
  refuse(error: RpcError, reply: Reply = this.#send): void {
    this.#note(`the client sent what is no message: ${error.message}`)
    reply(answerText('null', { error }))
  }

  /** The account of the run so far. */
  drift(): Drift {
    const open = this.#performance.unanswered().map((ask) => `the client never answered ${ask}`)
    return {
      answered: this.#answered,
      leftOver: this.#script.leftOver(),
      misses: [...this.#misses],
      notes: [...this.#notes, ...open],
    }
  }

  readonly #send: Reply = (text) => {
    if (text !== undefined) this.#options.send(text)
  }

  #takeBatch(text: string, { items }: Batch): void {
    const ranges = itemsOf(text)
    const owed = items.filter(({ kind }) => kind === 'request' || kind === 'invalid').length
    const reply = batchReply(owed, this.#send)
    for (const [place, item] of items.entries()) {
      this.#take(text.slice(ranges[place]?.start, ranges[place]?.end), item, reply)
    }
  }

  #take(text: string, message: Message, reply: Reply): void {
    switch (message.kind) {
      case 'request':
        return this.#answer(text, message, reply)
      case 'notification':
        return this.#hear(text, message)
      case 'response':
        return this.#performance.settle(message)
      case 'batch':
      case 'invalid':
        return this.refuse(invalidRequest(message), reply)
    }
  }

  #answer(text: string, request: Request, reply: Reply): void {
    const live = liveOf(text, request)
    const cue = this.#cueFor(text, request)
    if (cue.kind === 'own') return this.#answerOwn(cue, live.id, reply)
    if (cue.kind === 'miss') return this.#miss(cue.miss, live.id, reply)
    this.#answered++
    if (cue.loose !== undefined)
      this.#note(`answered loosely, by ${cue.loose}: ${briefRequest(request)}, with #${cue.turn.trigger?.n}`)
    if (cue.repeated) this.#note(`answered again with its last recorded answer: ${briefRequest(request)}`)
    this.#performance.play({ turn: cue.turn, live, reply })
  }

  /** With the key of the tape, a short number may be a stand-in that the client was given: it is tried as it came, too. */
  #cueFor(text: string, request: Request): Cue {
    const cue = this.#script.cueFor(request)
    const { redaction } = this.#options
    if (cue.kind !== 'miss' || redaction === undefined) return cue
    return redaction.isOurs ? this.#cueAsItCame(cue, text) : this.#cueWithoutKey(cue, text, redaction)
  }

  #cueAsItCame(cue: Cue, text: string): Cue {
    if (this.#asItCame === text) return cue
    const request = this.#heard.read(this.#asItCame)
    const other = request?.kind === 'request' ? this.#script.cueFor(request) : cue
    return other.kind === 'turn' ? other : cue
  }

  /** Without the key a secret cannot match, and must not be in the report of the miss either. */
  #cueWithoutKey(cue: Cue, text: string, redaction: LiveRedaction): Cue {
    const safe = redaction.text(text)
    const request = safe === text ? undefined : this.#heard.read(safe)
    const told = request?.kind === 'request' ? this.#script.cueFor(request) : cue
    return told === cue || told.kind !== 'miss'
      ? cue
      : { ...told, miss: redactionMismatch(told.miss, redaction) }
  }

  // A client may ask for it as often as it likes; once is enough to say.
  #answerOwn({ answer, note }: OwnAnswer, id: string, reply: Reply): void {
    if (note !== undefined && !this.#notes.includes(note)) this.#note(note)
    reply(answerText(id, answer))
  }

  #miss(miss: Miss, id: string, reply: Reply): void {
    this.#misses.push(miss)
    this.#options.onMiss?.(miss)
    reply(answerText(id, { error: missAsError(miss) }))
  }

  #hear(text: string, notification: Notification): void {
    const { method, params } = notification
    const id = member(params, 'requestId')
    if (method === 'notifications/cancelled' && isId(id)) this.#performance.cancel(id)
    const turn = this.#script.effectOf(notification)
    if (turn === undefined) return this.#note(`the client sent ${method}, which is not on the tape`)
    this.#performance.play({ turn, live: liveOf(text, notification), reply: ignore })
  }

  #note(said: string): void {
    const note = this.#options.redaction?.text(said) ?? said
    this.#notes.push(note)
    this.#options.onNote?.(note)
  }
}

function redactionMismatch(miss: Miss, { key }: LiveRedaction): Miss {
  const why = `the request holds a secret, and the tape has stand-ins made with the key ${key}, which is not here; set REELAY_REDACTION_KEY, or put the key into redaction.key of REELAY_HOME`
  return { ...miss, reason: 'REDACTION_MISMATCH', why }
}

const NOT_JSON: RpcError = { code: -32700, message: 'Parse error: not JSON' }

function invalidRequest(message: Batch | Invalid): RpcError {
  const why = message.kind === 'invalid' ? message.why : 'a batch inside a batch'
  return { code: -32600, message: `Invalid request: ${why}` }
}

function ignore(): void {}
