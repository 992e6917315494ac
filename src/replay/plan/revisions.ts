import { envelopeVersion } from '../../protocol/methods.ts'
import { revisionOfRequest, revisionProvenBy } from '../../protocol/revisions/index.ts'
import type { Turn, RecordedMessage } from '../../tape/turn.ts'

/** Which revision of the protocol a message is of: in the legacy era the handshake of its link says so, in the modern one each request. */
export class ProtocolRevisions {
  readonly #recorded: ReadonlyMap<string, string>
  readonly #live = new Map<string, string>()

  /** With the turns that opened the recorded conversations. */
  constructor(openings: readonly Turn[]) {
    this.#recorded = new Map(openings.flatMap(recordedRevision))
  }

  /** The live server has agreed to speak this one. */
  setLive(link: string, revision: string): void {
    this.#live.set(link, revision)
  }

  /** The recorded one, as long as the live server has not said otherwise. */
  live(turn: Turn): string | undefined {
    return envelopeRevision(turn) ?? this.#live.get(linkNameOf(turn)) ?? this.recorded(turn)
  }

  recorded(turn: Turn): string | undefined {
    const [first] = this.#recorded.values()
    return envelopeRevision(turn) ?? this.#recorded.get(linkNameOf(turn)) ?? first
  }
}

function recordedRevision(turn: Turn): readonly (readonly [string, string])[] {
  const [request, response] = [turn.trigger?.message, turn.response?.message]
  if (request?.kind !== 'request' || response?.kind !== 'response') return []
  const { revision, version } = revisionProvenBy({ request, response }) ?? {}
  return version === undefined || revision?.isStateless === true ? [] : [[linkNameOf(turn), version]]
}

function envelopeRevision({ trigger }: Turn): string | undefined {
  const params = trigger !== undefined && 'params' in trigger.message ? trigger.message.params : undefined
  return envelopeVersion(params)
}

/** Which of the live links a turn belongs to. */
// A modern exchange over HTTP is a connection of its own, and has no state: all of them share one link.
export function linkNameOf({ trigger, steps: [first] }: Turn): string {
  if (trigger === undefined) return `${(first?.kind === 'ask' ? first.request : first?.message)?.conn ?? 0}`
  return trigger.x === undefined || !isStateless(trigger) ? `${trigger.conn}` : 'stateless'
}

function isStateless({ message }: RecordedMessage): boolean {
  return 'params' in message && revisionOfRequest(message.params).isStateless
}
