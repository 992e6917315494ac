import { brief } from '../match/brief.ts'
import type { Spoken } from '../tape/turn.ts'
import { canonicalJson } from '../wire/canonical.ts'
import { idKey } from '../wire/id.ts'
import type { Response } from '../wire/message.ts'

interface Ask {
  readonly request: Spoken
  readonly recorded: Spoken | undefined
  readonly answered: () => void
}

/** The recorded server's requests that the live client has not answered yet, under ids of our own. */
export class Asks {
  readonly #open = new Map<string, Ask>()
  readonly #note: (note: string) => void
  #count = 0

  constructor(note: (note: string) => void) {
    this.#note = note
  }

  /** The id to send the request under: the recorded one may be in use for another request of this run. */
  open(request: Spoken, recorded: Spoken | undefined, answered: () => void): string {
    const id = `reelay-${++this.#count}`
    this.#open.set(idKey(id), { request, recorded, answered })
    return id
  }

  /** Takes the live client's answer, which may be another than the recorded one: that is said, and the play goes on. */
  settle({ id, outcome }: Response): void {
    const key = id === null ? '' : idKey(id)
    const ask = this.#open.get(key)
    if (ask === undefined)
      return this.#note(`the client answered a request that it was not sent: id ${brief(id)}`)
    this.#open.delete(key)
    const difference = differenceTo(ask, outcome)
    if (difference !== undefined) this.#note(`the client answered ${named(ask.request)} ${difference}`)
    ask.answered()
  }

  /** The requests that the client still owes an answer to, though it gave one on the tape. */
  unanswered(): readonly string[] {
    return [...this.#open.values()]
      .filter(({ recorded }) => recorded !== undefined)
      .map(({ request }) => named(request))
  }
}

function differenceTo({ recorded }: Ask, outcome: Response['outcome']): string | undefined {
  if (recorded?.message.kind !== 'response') return 'though on the tape it never did'
  const before = recorded.message.outcome
  if (canonicalJson(before) === canonicalJson(outcome)) return undefined
  return `with ${brief(outcome)}, on the tape with ${brief(before)}`
}

function named({ message, n }: Spoken): string {
  return `${message.kind === 'request' ? message.method : message.kind} (#${n})`
}
