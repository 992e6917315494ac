import type { ConfigFormat, ConfigEntry, EntryLink, ConfigToken } from './configs/config-format.ts'
import type { ConfigEdit } from './configs/config-edits.ts'
import { recorderArgs, parseWrappedCommand, type RecorderProgram } from './entries/command-entry.ts'

/** A change of an entry that can be taken back: what stood at the beginning of a member, or of the entry, and what stands there now. */
export interface ReversibleEdit {
  readonly at: 'command' | 'args' | 'entry'
  readonly was: string
  readonly now: string
}

type CommandEntryLink = Extract<EntryLink, { kind: 'command' }>

export interface CommandWrapRequest {
  readonly text: string
  readonly link: CommandEntryLink
  readonly format: ConfigFormat
  readonly recorder: RecorderProgram
  readonly server: string
  readonly tape: string
}

/** The changes that put the recorder before the server. The old command and its args are carried on as they are spelled. */
export function wrapCommandEdits({
  text,
  link,
  format,
  recorder,
  server,
  tape,
}: CommandWrapRequest): readonly ReversibleEdit[] {
  const command = text.slice(link.command.start, link.command.end)
  const words = [...recorderArgs(recorder, server, tape).map(format.quote), command].join(', ')
  const node = format.quote(recorder.node)
  if (link.args === undefined)
    return [{ at: 'command', was: command, now: `${node}${link.beforeNewArgs}[${words}]` }]
  const list = text.slice(link.args.start, link.args.end)
  return [{ at: 'command', was: command, now: node }, argListEdit(list, words, link.args.items)]
}

/** Only the beginning of a list changes, so that an argument which the user adds later stays. */
function argListEdit(list: string, words: string, items: readonly ConfigToken[]): ReversibleEdit {
  if (items.length === 0) return { at: 'args', was: list, now: `[${words}${list.slice(1)}` }
  const space = /^\[\s/.test(list) ? '' : ' '
  return { at: 'args', was: '[', now: `[${words},${space}` }
}

/** Where pieces stand in the text; undefined when it is no longer what was written there. */
export function locateReversibleEdits(
  pieces: readonly ReversibleEdit[],
  { text, entry, direction }: { text: string; entry: ConfigEntry; direction: 'wrap' | 'unwrap' },
): readonly ConfigEdit[] | undefined {
  const edits = pieces.map(({ at, was, now }) => {
    const start = editStart(entry, at)
    const [before, after] = direction === 'wrap' ? [was, now] : [now, was]
    return { start, end: start + before.length, text: after, isThere: text.startsWith(before, start) }
  })
  return edits.every(({ start, isThere }) => start >= 0 && isThere) ? edits : undefined
}

function editStart({ link, span }: ConfigEntry, at: ReversibleEdit['at']): number {
  if (at === 'entry') return span?.start ?? -1
  return link.kind === 'command' ? (link[at]?.start ?? -1) : -1
}

/** Takes the recorder out by what the words mean, when the exact pieces are not known; undefined when there is none. */
export function inferUnwrapEdits(text: string, link: CommandEntryLink): readonly ConfigEdit[] | undefined {
  const wrapped = parseWrappedCommand(link)
  const items = link.args?.items ?? []
  const at = wrapped?.commandIndex
  const command = at === undefined ? undefined : items[at]
  if (at === undefined || command === undefined || link.args === undefined) return undefined
  const next = items[at + 1]
  const first = items[0]?.start ?? link.args.start + 1
  return [
    { ...tokenRange(link.command), text: text.slice(command.start, command.end) },
    next === undefined
      ? { start: link.args.start, end: link.args.end, text: '[]' }
      : { start: first, end: next.start, text: '' },
  ]
}

function tokenRange({ start, end }: ConfigToken): { start: number; end: number } {
  return { start, end }
}
