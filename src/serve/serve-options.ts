import type { Loosening } from '../match/loosening.ts'
import type { MatchOptions } from '../match/match-options.ts'
import type { Miss } from '../match/miss.ts'
import { readMatchSettings, withSettings, type MatchSettings } from '../match/settings.ts'
import { recordCommandLine } from './command-line.ts'
import { liveRedaction } from './live-redaction.ts'
import type { PlayedTape } from './played-tape.ts'
import type { PlayerOptions } from './player.ts'
import { Script } from './script.ts'
import { whichServer } from './which-server.ts'

/** How a tape is to be served, in whatever way it is. */
export interface ServeOptions extends MatchOptions {
  readonly tape: PlayedTape
  /** The tape as the user named it, for reports; by default its path. */
  readonly name?: string
  /** Which server to be, when the tape holds several. */
  readonly server?: string
  /** How requests are matched where neither the options nor the rules beside the tape say. */
  readonly settings?: MatchSettings
  readonly now?: () => number
  readonly onMiss?: (miss: Miss) => void
  readonly onNote?: (note: string) => void
}

/** `commandFor` says how the user would give the options that accept a miss. */
export function playerOptions(
  options: ServeOptions,
  commandFor: (loosening: Loosening) => string,
): Omit<PlayerOptions, 'send' | 'later'> {
  const { tape, name, server, now, onMiss, onNote } = options
  const given = matchOptionsIn(options)
  const played = whichServer(tape, server)
  const redaction = liveRedaction(tape.header)
  const recordCommand = recordCommandLine(tape.header.servers[played] ?? {})
  return {
    script: new Script({
      ...withSettings(given, besideTape(tape), options.settings ?? { rules: [] }),
      given,
      turns: tape.turns,
      started: tape.header.started,
      server: played,
      tape: name ?? tape.path,
      commandFor,
      ...(recordCommand !== undefined && { recordCommand }),
      ...(now && { now }),
    }),
    ...(redaction && { redaction }),
    ...(onMiss && { onMiss }),
    ...(onNote && { onNote }),
  }
}

/** The rules that are stored beside a tape. */
export function besideTape({ matchFile }: Pick<PlayedTape, 'matchFile'>): MatchSettings {
  return matchFile === undefined ? { rules: [] } : readMatchSettings(matchFile.value, matchFile.path)
}

function matchOptionsIn({ match, rules, ignore, permissive }: ServeOptions): MatchOptions {
  return {
    ...(match !== undefined && { match }),
    ...(rules && { rules }),
    ...(ignore && { ignore }),
    ...(permissive !== undefined && { permissive }),
  }
}
