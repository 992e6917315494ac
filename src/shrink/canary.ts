import { existsSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { homedir, tmpdir } from 'node:os'
import { isAbsolute, join, parse, relative, resolve } from 'node:path'
import { decodeLeaf, jsonLeaves } from '../json/find-replace.ts'
import type { Tape } from '../store/file/read.ts'
import { messagesOfTurn, type Turn } from '../tape/turns.ts'
import { editedTurn } from './candidate.ts'

/** The content of a file that no server has to read. A response with it is proof. */
export const CANARY = 'reelay-canary-7b1f0c52d9e84a36'

/** A file that path probes ask for. It is in a temporary folder of its own. */
export interface CanaryFile {
  readonly path: string
  /** Removes the folder. */
  readonly close: () => void
}

const FOLDER_PREFIX = 'reelay-canary-'
const FILE_NAME = 'canary.txt'

/** What is known about the folders that a server may offer. */
interface KnownFolders {
  /** The words of the server command; empty for a URL. */
  readonly command: readonly string[]
  /** Messages on the tape. */
  readonly messages: Iterable<string>
}

/** Writes a file that the server does not offer: outside of the folders that are named. Returns `undefined` if there is no such place. */
export function createCanary(known: KnownFolders): CanaryFile | undefined {
  const offered = offeredFolders(known)
  const place = [tmpdir(), homedir()]
    .flatMap((folder) => (existsSync(folder) ? [realpathSync(folder)] : []))
    .find((folder) => !offered.some((each) => isWithin(folder, each)))
  if (place === undefined) return undefined
  const folder = mkdtempSync(join(place, FOLDER_PREFIX))
  const path = join(folder, FILE_NAME)
  writeFileSync(path, `${CANARY}\n`, { mode: 0o600, flag: 'wx' })
  return { path, close: () => rmSync(folder, { recursive: true, force: true }) }
}

function offeredFolders({ command, messages }: KnownFolders): readonly string[] {
  const folder = process.cwd()
  const isRoot = parse(folder).root === folder // as in a container, where it says nothing
  const offered = new Set(isRoot ? [] : [folder])
  for (const word of command) {
    if (isAbsolute(word) || /^\.{1,2}(?:[\\/]|$)/.test(word)) offered.add(resolve(word))
    for (const path of word.match(ABSOLUTE_FOLDER) ?? []) offered.add(resolve(path))
  }
  for (const message of messages)
    for (const leaf of jsonLeaves(message))
      if (message[leaf.start] === '"')
        for (const path of decodeLeaf(message, leaf).match(ABSOLUTE_FOLDER) ?? []) offered.add(resolve(path))
  return [...offered]
}

const ABSOLUTE_FOLDER =
  /(?<![\w:/.\\-])\/[\w.@+~-]+(?:\/[\w.@+~-]+)*|\b[A-Z]:\\(?:[\w .@+~-]+(?:\\[\w .@+~-]+)*)?/g

function isWithin(folder: string, parent: string): boolean {
  const way = relative(parent, folder)
  return way === '' || (!way.startsWith('..') && !isAbsolute(way))
}

/** A tape whose path probes ask for a file that exists. */
interface TapeWithCanary {
  readonly tape: Tape
  /** `none` if no request asks for such a file, `impossible` if the server may read every folder. */
  readonly canary: 'none' | 'ready' | 'impossible'
  readonly close: () => void
}

/** Writes the file of path probes again, in a folder of its own, and changes the requests that ask for an old one. */
export function renewCanary(tape: Tape, command: readonly string[]): TapeWithCanary {
  const isAsked = tape.turns.some(({ trigger }) => trigger?.text.includes(FOLDER_PREFIX))
  const messages = tape.turns.flatMap((turn) => messagesOfTurn(turn).map(({ text }) => text))
  const file = isAsked ? createCanary({ command, messages }) : undefined
  if (file === undefined) return { tape, canary: isAsked ? 'impossible' : 'none', close: () => {} }
  const turns = tape.turns.map((turn) => turnWithCanary(turn, file.path))
  return { tape: { ...tape, turns }, canary: 'ready', close: file.close }
}

function turnWithCanary(turn: Turn, path: string): Turn {
  const { trigger } = turn
  if (trigger === undefined || !trigger.text.includes(FOLDER_PREFIX)) return turn
  let changed = turn
  for (const leaf of jsonLeaves(trigger.text)) {
    if (trigger.text[leaf.start] !== '"') continue
    const old = decodeLeaf(trigger.text, leaf)
    const value = textWithCanary(old, path)
    if (value !== old) changed = editedTurn(changed, { side: 'request', path: leaf.path, value })
  }
  return changed
}

/** Replaces the path of an old file in all the forms in which probes write it: absolute, after `../`, with `%2f`, as a URL. */
export function textWithCanary(text: string, path: string): string {
  const name = OLD_NAME.exec(text)
  if (name === null) return text
  const { start, isWhole } = startOfPath(text, name.index)
  const { root } = parse(path)
  const isUrl = /^file:/i.test(text)
  const slashes = path.slice(root.length).replaceAll('\\', '/')
  const bare = isUrl ? encodeURI(slashes) : slashes
  const lead = isUrl ? root.replaceAll('\\', '/').replace(/^\//, '') : root
  const separator = name[1] ?? '/'
  const written = separator.startsWith('%') ? bare.replaceAll('/', separator) : bare
  return text.slice(0, start) + (isWhole ? lead : '') + written + text.slice(name.index + name[0].length)
}

const OLD_NAME = /reelay-canary-\w{6}([\\/]|%2f|%5c)canary\.txt/i
const LAST_FOLDER = /(?<=^|[\\/:]|%2f|%5c)((?:(?!%2f|%5c)[^\\/:]){1,255})(?:[\\/]|%2f|%5c)$/i
const DRIVE = /[A-Z]:[\\/]$/i

/** Goes back over the names of folders, up to dots, an empty name or a drive. */
function startOfPath(text: string, at: number): { readonly start: number; readonly isWhole: boolean } {
  let start = at
  for (let folder = LAST_FOLDER.exec(textBefore(text, start)); folder !== null;) {
    if (/^\.+$/.test(folder[1] ?? '')) break
    start -= folder[0].length
    folder = LAST_FOLDER.exec(textBefore(text, start))
  }
  const drive = DRIVE.exec(textBefore(text, start))
  return drive === null ? { start, isWhole: false } : { start: start - drive[0].length, isWhole: true }
}

function textBefore(text: string, end: number): string {
  return text.slice(Math.max(0, end - LONGEST_FOLDER), end)
}

const LONGEST_FOLDER = 300
