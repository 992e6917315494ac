import type { Direction } from '../wire/direction.ts'
import { classify } from '../wire/message.ts'
import { parseJson } from '../wire/parse-json.ts'
import { MethodFilter } from './method-filter.ts'
import { PendingWatch, type PendingOptions } from './pending.ts'
import type { TapeLog } from './tape-log.ts'
import type { TapeRules } from './tape-rules.ts'

/** Where a message crossed. */
export interface LookedLink {
  /** Within it an id means one request. */
  readonly scope: string
  /** The envelope between `t` and the payload, without the direction. */
  readonly place: string
}

/** Looks into messages before they are taped, which costs time: there is one only where the user asked for what needs it. */
export class MessageLook {
  readonly #filter: MethodFilter
  readonly #pending: PendingWatch | undefined

  constructor({ only = [], skip = [] }: TapeRules, pending: PendingOptions | undefined) {
    this.#filter = new MethodFilter({ only, skip })
    this.#pending = pending && new PendingWatch(pending)
  }

  /** Whether the message is taped. */
  keeps(dir: Direction, text: string, link: LookedLink): boolean {
    const message = classify(parseJson(text))
    this.#pending?.see(dir, message, link)
    return this.#filter.keeps(dir, message, link.scope)
  }
}

/** What looks into messages, where something asked for needs it. */
export function lookFor(rules: LookRules, log: TapeLog): MessageLook | undefined {
  const { only = [], skip = [], pendingMs, onPending = () => {} } = rules
  if (only.length + skip.length === 0 && pendingMs === undefined) return undefined
  return new MessageLook(rules, pendingMs === undefined ? undefined : { pendingMs, log, onPending })
}

interface LookRules extends TapeRules {
  readonly onPending?: (words: string) => void
}
