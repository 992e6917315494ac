import type { Turn } from '../tape/turn.ts'
import { member } from '../wire/message.ts'
import { META, metaOf } from '../wire/methods.ts'
import { linkOf } from './link-of.ts'

/** Which revision of the protocol a message is of: in the legacy era the handshake of its link says so, in the modern one each request. */
export class Revisions {
  readonly #recorded: ReadonlyMap<string, string>
  readonly #live = new Map<string, string>()

  /** With the turns that opened the recorded conversations. */
  constructor(openings: readonly Turn[]) {
    this.#recorded = new Map(openings.flatMap(agreedIn))
  }

  /** The live server has agreed to speak this one. */
  agreed(link: string, revision: string): void {
    this.#live.set(link, revision)
  }

  /** The recorded one, as long as the live server has not said otherwise. */
  live(turn: Turn): string | undefined {
    return envelopeIn(turn) ?? this.#live.get(linkOf(turn)) ?? this.recorded(turn)
  }

  recorded(turn: Turn): string | undefined {
    const [first] = this.#recorded.values()
    return envelopeIn(turn) ?? this.#recorded.get(linkOf(turn)) ?? first
  }
}

function agreedIn(turn: Turn): readonly (readonly [string, string])[] {
  const { trigger, response } = turn
  if (member(trigger?.message, 'method') !== 'initialize' || response?.message.kind !== 'response') return []
  const { outcome } = response.message
  const revision = 'result' in outcome ? member(outcome.result, 'protocolVersion') : undefined
  return typeof revision === 'string' ? [[linkOf(turn), revision]] : []
}

function envelopeIn({ trigger }: Turn): string | undefined {
  const params = trigger !== undefined && 'params' in trigger.message ? trigger.message.params : undefined
  const revision = metaOf(params, META.protocolVersion)
  return typeof revision === 'string' ? revision : undefined
}
