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
import { messagesOfTurn, type Turn, type TurnStore } from '../../tape/turns.ts'
import { selectServerPart, type ServerPart, type ReplayedTape } from '../plan/server-part.ts'

export interface TapeBindingsOptions {
  /** The server whose client is played; required if the tape has several servers. */
  readonly server?: string | undefined
  /** Path of a bindings file; by default the one next to the tape. */
  readonly bindings?: string | undefined
  /** A second recording of the same session, which confirms or refutes bindings and guesses. */
  readonly baseline?: Tape | undefined
}

/** Finds the bindings of one server's part of a tape, and applies a second recording and the bindings file of the user. */
export async function tapeBindings(
  tape: ReplayedTape,
  options: TapeBindingsOptions = {},
): Promise<FoundBindings> {
  return bindingsOfPart(await selectServerPart(tape, options.server), tape, options)
}

/** Like `tapeBindings`, for a part that is already selected. */
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

/** A bindings file is for the whole tape; drops what belongs to other servers. */
function onlyThisPart(file: BindingsFile, tape: ReplayedTape, turns: TurnStore): BindingsFile {
  const [own, all] = [numbersOf(turns), numbersOf(tape.turns)]
  const isForeign = ({ to }: UserBinding): boolean =>
    to.every(({ message: { exchange, frame } }) =>
      exchange === undefined
        ? all.frames.has(frame) && !own.frames.has(frame)
        : all.exchanges.has(exchange) && !own.exchanges.has(exchange),
    )
  return { ...file, bind: file.bind.filter((one) => !isForeign(one)) }
}

type MessageNumbers = Readonly<Record<'frames' | 'exchanges', ReadonlySet<number>>>

function numbersOf(turns: Iterable<Turn>): MessageNumbers {
  const [frames, exchanges] = [new Set<number>(), new Set<number>()]
  for (const turn of turns) {
    for (const { n } of messagesOfTurn(turn)) frames.add(n)
    if (turn.exchange !== undefined) exchanges.add(turn.exchange)
  }
  return { frames, exchanges }
}
