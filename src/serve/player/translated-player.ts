import { CONNECTION_METHODS, withValue } from '../../protocol/translation/forms.ts'
import type { Translator, TranslatorPorts } from '../../protocol/translation/translator.ts'
import { itemRanges } from '../../json/find-replace.ts'
import { member, parseJson } from '../../json/parse.ts'
import {
  type Batch,
  classifyMessage,
  type Id,
  idKey,
  type Message,
  META_KEYS,
  metaValue,
  type RpcError,
} from '../../protocol/message.ts'
import type { Drift } from '../drift.ts'
import type { PlayedAs } from '../playable-tape.ts'
import { type Clock, SystemClock } from './clock.ts'
import { batchReplyChannel, type ReplyChannel, type SendReply } from './reply-channel.ts'
import { SessionPlayer, type SessionPlayerOptions } from './session-player.ts'

/** What endpoints need of a player. */
export type ServedPlayer = Pick<
  SessionPlayer,
  'start' | 'handle' | 'handleText' | 'rejectInvalid' | 'cancel' | 'drift'
>

/** A player for clients of the era of the tape, or of the other one. */
export function createPlayer(options: SessionPlayerOptions, as: PlayedAs | undefined): ServedPlayer {
  return as === undefined ? new SessionPlayer(options) : new TranslatedPlayer(options, as)
}

interface OpenExchange {
  /** As the client wrote it. */
  readonly id: Id
  readonly channel: ReplyChannel
}

/** Plays a tape to a client of the other era: both sides only see messages of their own. */
class TranslatedPlayer implements ServedPlayer {
  readonly #player: SessionPlayer
  readonly #translator: Translator
  readonly #send: (text: string) => void
  readonly #clock: Clock
  /** By the id that the translator knows. It is unique, which the ids of a client without sessions are not. */
  readonly #exchanges = new Map<Id, OpenExchange>()
  #count = 0

  constructor(options: SessionPlayerOptions, { client, version }: PlayedAs) {
    this.#send = options.send
    this.#clock = options.clock ?? new SystemClock()
    const ports: TranslatorPorts = {
      toClient: (text, of) => this.#toClient(text, of),
      toServer: (text) => this.#toServer(text),
      cancelAtServer: (id) => this.#player.cancel(id, this.#channelOf(id)),
      later: (milliseconds, run) => this.#clock.after(milliseconds, run),
    }
    const listens = options.recordedServer.turnsOfMethod('subscriptions/listen')
    const filters = listens.map(({ trigger }) => member(member(trigger?.message, 'params'), 'notifications'))
    this.#translator = client.translator({ version, filters }, ports)
    this.#player = new SessionPlayer({
      ...options,
      send: (text) => this.#translator.fromServer(text, classifyMessage(parseJson(text))),
    })
  }

  start(): void {
    this.#player.start()
  }

  handleText(text: string): void {
    const value = parseJson(text)
    if (value === undefined) this.#player.handleText(text)
    else this.handle(text, classifyMessage(value), this.#mainChannel)
  }

  handle(text: string, message: Message, channel: ReplyChannel = this.#mainChannel): void {
    if (message.kind === 'batch') return this.#handleBatch(text, message, channel)
    if (message.kind === 'invalid') return this.#player.handle(text, message, channel)
    if (message.kind !== 'request') return this.#translator.fromClient(text, message)
    const id = channel.scope === '' ? message.id : `client-${++this.#count}`
    this.#exchanges.set(id, { id: message.id, channel })
    if (id === message.id) this.#translator.fromClient(text, message)
    else this.#translator.fromClient(withValue(text, ['id'], id), { ...message, id })
  }

  rejectInvalid(error: RpcError, reply?: SendReply): void {
    this.#player.rejectInvalid(error, reply ?? this.#mainChannel.reply)
  }

  cancel(id: Id, { scope }: ReplyChannel): void {
    for (const [known, exchange] of this.#exchanges) {
      if (exchange.channel.scope !== scope || idKey(exchange.id) !== idKey(id)) continue
      this.#exchanges.delete(known)
      this.#translator.cancel(known)
    }
  }

  drift(): Drift {
    const drift = this.#player.drift()
    const leftOver = drift.leftOver.filter(({ method }) => !CONNECTION_METHODS.has(method))
    return { ...drift, leftOver }
  }

  get #mainChannel(): ReplyChannel {
    return {
      scope: '',
      send: this.#send,
      reply: (text) => {
        if (text !== undefined) this.#send(text)
      },
    }
  }

  #handleBatch(text: string, { items }: Batch, channel: ReplyChannel): void {
    const requests = items.filter(({ kind }) => kind === 'request' || kind === 'invalid').length
    const batch = batchReplyChannel(channel, requests)
    for (const [at, { start, end }] of itemRanges(text).entries()) {
      const item = items[at]
      if (item !== undefined) this.handle(text.slice(start, end), item, batch)
    }
  }

  #toServer(text: string): void {
    const message = classifyMessage(parseJson(text))
    const channel = message.kind === 'request' ? this.#channelOf(message.id) : this.#channelOf(undefined)
    this.#player.handle(text, message, channel)
  }

  /** The channel of a request to the recorded server, which names the request that it belongs to. */
  #channelOf(of: Id | undefined): ReplyChannel {
    const receive = (text: string): void =>
      this.#translator.fromServer(text, classifyMessage(parseJson(text)), of)
    const breakOff = of === undefined ? undefined : this.#exchanges.get(of)?.channel.breakOff
    return {
      scope: '',
      send: receive,
      reply: (text) => {
        if (text !== undefined) receive(text)
      },
      ...(breakOff && { breakOff }),
    }
  }

  #toClient(text: string, of: Id | undefined): void {
    const exchange = of === undefined ? undefined : this.#exchanges.get(of)
    if (of === undefined || exchange === undefined) return this.#send(text)
    const { id, channel } = exchange
    const message = classifyMessage(parseJson(text))
    if (message.kind === 'response') {
      this.#exchanges.delete(of)
      return channel.reply(id === of ? text : withValue(text, ['id'], id), message.outcome)
    }
    const params = 'params' in message ? message.params : undefined
    const isTagged = id !== of && metaValue(params, META_KEYS.subscriptionId) === of
    channel.send(isTagged ? withValue(text, ['params', '_meta', META_KEYS.subscriptionId], id) : text)
  }
}
