import type { ConfigFormat, Entry, Link, Word } from './config-format.ts'
import type { Edit } from './edit.ts'
import { recorderArgs, wrappedCommand, type Recorder } from './wrapped-command.ts'

/** A change of an entry that can be taken back: what stood at the beginning of a member, or of the entry, and what stands there now. */
export interface Piece {
  readonly at: 'command' | 'args' | 'entry'
  readonly was: string
  readonly now: string
}

type CommandLink = Extract<Link, { kind: 'command' }>

export interface WrapRequest {
  readonly text: string
  readonly link: CommandLink
  readonly format: ConfigFormat
  readonly recorder: Recorder
  readonly server: string
  readonly tape: string
}

/** The changes that put the recorder before the server. The old command and its args are carried on as they are spelled. */
export function wrapPieces({ text, link, format, recorder, server, tape }: WrapRequest): readonly Piece[] {
  const command = text.slice(link.command.start, link.command.end)
  const words = [...recorderArgs(recorder, server, tape).map(format.spell), command].join(', ')
  const node = format.spell(recorder.node)
  if (link.args === undefined)
    return [{ at: 'command', was: command, now: `${node}${link.beforeNewArgs}[${words}]` }]
  const list = text.slice(link.args.start, link.args.end)
  return [{ at: 'command', was: command, now: node }, listPiece(list, words, link.args.items)]
}

/** Only the beginning of a list changes, so that an argument which the user adds later stays. */
function listPiece(list: string, words: string, items: readonly Word[]): Piece {
  if (items.length === 0) return { at: 'args', was: list, now: `[${words}${list.slice(1)}` }
  const space = /^\[\s/.test(list) ? '' : ' '
  return { at: 'args', was: '[', now: `[${words},${space}` }
}

/** Where pieces stand in the text; undefined when it is no longer what was written there. */
export function editsFor(
  pieces: readonly Piece[],
  { text, entry, direction }: { text: string; entry: Entry; direction: 'wrap' | 'unwrap' },
): readonly Edit[] | undefined {
  const edits = pieces.map(({ at, was, now }) => {
    const start = startOf(entry, at)
    const [before, after] = direction === 'wrap' ? [was, now] : [now, was]
    return { start, end: start + before.length, text: after, isThere: text.startsWith(before, start) }
  })
  return edits.every(({ start, isThere }) => start >= 0 && isThere) ? edits : undefined
}

function startOf({ link, span }: Entry, at: Piece['at']): number {
  if (at === 'entry') return span?.start ?? -1
  return link.kind === 'command' ? (link[at]?.start ?? -1) : -1
}

/** Takes the recorder out by what the words mean, when the exact pieces are not known; undefined when there is none. */
export function editsByMeaning(text: string, link: CommandLink): readonly Edit[] | undefined {
  const wrapped = wrappedCommand(link)
  const items = link.args?.items ?? []
  const at = wrapped?.commandAt
  const command = at === undefined ? undefined : items[at]
  if (at === undefined || command === undefined || link.args === undefined) return undefined
  const next = items[at + 1]
  const first = items[0]?.start ?? link.args.start + 1
  return [
    { ...placeOf(link.command), text: text.slice(command.start, command.end) },
    next === undefined
      ? { start: link.args.start, end: link.args.end, text: '[]' }
      : { start: first, end: next.start, text: '' },
  ]
}

function placeOf({ start, end }: Word): { start: number; end: number } {
  return { start, end }
}
