import {
  applyBindingsFile,
  readBindingsFile,
  type BindingsFile,
  type UserBinding,
} from '../../bindings/bindings-file.ts'
import type { FoundBindings } from '../../bindings/binding.ts'
import { confirmBindings } from '../../bindings/find/confirm.ts'
import { findBindings } from '../../bindings/find/find-bindings.ts'
import { withBindingsFilePath, readBindingsFileAt, readBindingsForTape } from '../../store/companion-files.ts'
import type { Tape } from '../../store/file/read.ts'
import { messagesOfTurn, type Turn } from '../../tape/turn.ts'
import type { TurnStore } from '../../tape/turns.ts'
import { selectServerPart, type ServerPart, type ReplayedTape } from '../plan/server-part.ts'

export interface TapeBindingsOptions {
  /** Whose client is played, when the tape holds several servers. */
  readonly server?: string | undefined
  /** The path of a bindings file; by default the one beside the tape, if there is one. */
  readonly bindings?: string | undefined
  /** A second recording of the same session: it confirms bindings, refutes them, and settles guesses. */
  readonly baseline?: Tape | undefined
}

/** The bindings of one server's part of a tape: what is found, what a second recording says of it, and what the user wrote down. */
export async function tapeBindings(
  tape: ReplayedTape,
  options: TapeBindingsOptions = {},
): Promise<FoundBindings> {
  return bindingsOfPart(await selectServerPart(tape, options.server), tape, options)
}

/** The same for a part that is known. */
export async function bindingsOfPart(
  { turns }: ServerPart,
  tape: ReplayedTape,
  { server, bindings: path, baseline }: TapeBindingsOptions = {},
): Promise<FoundBindings> {
  const found = findBindings(turns, { started: tape.header.started })
  const settled = baseline === undefined ? found : await confirmedBy(baseline, found, { server, turns })
  const written = await (path === undefined ? readBindingsForTape(tape.path) : readBindingsFileAt(path))
  if (written === undefined) return settled
  return withBindingsFilePath(written.path, () =>
    applyBindingsFile(settled, onlyThisPart(readBindingsFile(written.value), tape, turns), turns),
  )
}

async function confirmedBy(
  baseline: Tape,
  found: FoundBindings,
  { server, turns }: { server: string | undefined; turns: TurnStore },
): Promise<FoundBindings> {
  const { turns: other } = await selectServerPart(baseline, server)
  return confirmBindings(found, {
    turns: [...turns],
    other: [...other],
    otherStarted: baseline.header.started,
  })
}

/** A file speaks of the whole tape; what it says of other servers is not for this part. */
function onlyThisPart(file: BindingsFile, tape: ReplayedTape, turns: TurnStore): BindingsFile {
  const [own, all] = [framesOf(turns), framesOf(tape.turns)]
  const isForeign = ({ to }: UserBinding): boolean =>
    to.every(({ frame }) => all.has(frame) && !own.has(frame))
  return { ...file, bind: file.bind.filter((one) => !isForeign(one)) }
}

function framesOf(turns: Iterable<Turn>): ReadonlySet<number> {
  const frames = new Set<number>()
  for (const turn of turns) for (const { n } of messagesOfTurn(turn)) frames.add(n)
  return frames
}
