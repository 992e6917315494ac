import type { Loosening } from '../match/loosening.ts'
import type { Miss } from '../match/miss.ts'
import { RecordedHeads } from './http/recorded-heads.ts'
import { withoutRefusals } from './http/transport-refusals.ts'
import { storeOf, type PlayedTape } from './played-tape.ts'
import type { PlayerOptions } from './player.ts'
import { Script } from './script.ts'
import { whichServer } from './which-server.ts'

/** How a tape is to be served, in whatever way it is. */
export interface ServeOptions {
  readonly tape: PlayedTape
  /** The tape as the user named it, for reports; by default its path. */
  readonly name?: string
  /** Which server to be, when the tape holds several. */
  readonly server?: string
  /** Paths in requests, such as `params.arguments.limit`, that are not compared. */
  readonly ignore?: readonly string[]
  /** Over-use repeats the last answer. */
  readonly permissive?: boolean
  readonly onMiss?: (miss: Miss) => void
  readonly onNote?: (note: string) => void
}

/** `commandFor` says how the user would give the options that accept a miss. */
export function playerOptions(
  { tape, name, server, ignore = [], permissive = false, onMiss, onNote }: ServeOptions,
  commandFor: (loosening: Loosening) => string,
): Omit<PlayerOptions, 'send' | 'later'> {
  return {
    script: new Script({
      turns: withoutRefusals(storeOf(tape.turns), new RecordedHeads(tape.rest)),
      server: whichServer(tape, server),
      tape: name ?? tape.path,
      ignore,
      permissive,
      commandFor,
    }),
    ...(onMiss && { onMiss }),
    ...(onNote && { onNote }),
  }
}
