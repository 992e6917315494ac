import type { Direction } from '../wire/direction.ts'
import { classifyMessage } from '../protocol/message.ts'
import { parseJson } from '../json/parse.ts'
import { MethodFilter } from './method-filter.ts'
import { PendingRequestWatch, type PendingRequestOptions } from './pending.ts'
import type { TapeLog } from './tape-log.ts'
import type { RecordingRules } from './tape-rules.ts'

/** Where a message crossed. */
export interface MessageOrigin {
  /** Within it an id means one request. */
  readonly scope: string
  /** The envelope between `t` and the payload, without the direction. */
  readonly place: string
}

/** Looks into messages before they are taped, which costs time: there is one only where the user asked for what needs it. */
export class MessageFilter {
  readonly #filter: MethodFilter
  readonly #pending: PendingRequestWatch | undefined

  constructor({ only = [], skip = [] }: RecordingRules, pending: PendingRequestOptions | undefined) {
    this.#filter = new MethodFilter({ only, skip })
    this.#pending = pending && new PendingRequestWatch(pending)
  }

  /** Whether the message is taped. */
  keeps(dir: Direction, text: string, link: MessageOrigin): boolean {
    const message = classifyMessage(parseJson(text))
    this.#pending?.observe(dir, message, link)
    return this.#filter.keeps(dir, message, link.scope)
  }
}

/** What looks into messages, where something asked for needs it. */
export function messageFilterFor(rules: MessageFilterRules, log: TapeLog): MessageFilter | undefined {
  const { only = [], skip = [], pendingMs, onPending = () => {} } = rules
  if (only.length + skip.length === 0 && pendingMs === undefined) return undefined
  return new MessageFilter(rules, pendingMs === undefined ? undefined : { pendingMs, log, onPending })
}

interface MessageFilterRules extends RecordingRules {
  readonly onPending?: (words: string) => void
}
