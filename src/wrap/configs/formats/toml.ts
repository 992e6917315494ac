import { ParseError, parseTOML, type AST } from 'toml-eslint-parser'
import type { ServerTablePath } from '../../clients/client.ts'
import {
  ARGS_NOT_LIST,
  COMMAND_NOT_STRING,
  NO_COMMAND_OR_URL,
  ConfigSyntaxError,
  type ConfigArgList,
  type ConfigFormat,
  type EntryLink,
  type ConfigToken,
  type ConfigEntry,
  type ConfigMember,
  type ConfigRange,
} from '../config-format.ts'

/** TOML: servers as tables, inline tables or dotted keys, anywhere in the file. */
export const tomlConfigFormat: ConfigFormat = {
  readEntries(text, root) {
    const table = parseTable(text)
    return [...findServers(root, table)].map(([server, members]) => ({
      server,
      link: readLink(text, members),
      ...readTomlEntry(table, [...root, server]),
    }))
  },
  headersKey: 'http_headers',
  supportsHeaderVariables: true,
  // TOML requires one more escaped character than JSON.
  quote: (value) => JSON.stringify(value).replaceAll('\u007F', '\\u007F'),
  formatPair: (key, value) => `${/^[\w-]+$/.test(key) ? key : tomlConfigFormat.quote(key)} = ${value}`,
  formatMembers: (text, at, now) => {
    const dotted = text.slice(at.whole.start, at.key.start)
    const between = memberSeparator(text, at)
    return now.map(([key, value]) => dotted + tomlConfigFormat.formatPair(key, value)).join(between)
  },
}

type TomlMembers = Map<string, AST.TOMLKeyValue>

function findServers(root: ServerTablePath, table: AST.TOMLTopLevelTable): ReadonlyMap<string, TomlMembers> {
  const servers = new Map<string, TomlMembers>()
  for (const { path, pair } of allPairs(table)) {
    const [server, key] = path.slice(root.length)
    if (server === undefined || !root.every((part, index) => part === path[index])) continue
    const members = servers.get(server) ?? new Map<string, AST.TOMLKeyValue>()
    servers.set(server, members)
    if (key !== undefined && path.length === root.length + 2) members.set(key, pair)
  }
  return servers
}

function parseTable(text: string): AST.TOMLTopLevelTable {
  try {
    return parseTOML(text, { tomlVersion: '1.1' }).body[0]
  } catch (error) {
    if (!(error instanceof ParseError)) throw error
    throw new ConfigSyntaxError(error.message.toLowerCase(), {
      line: error.lineNumber,
      column: error.column + 1,
    })
  }
}

interface TomlPair {
  readonly path: readonly string[]
  readonly pair: AST.TOMLKeyValue
}

/** Every key of the file with its full path. */
function allPairs(table: AST.TOMLTopLevelTable): readonly TomlPair[] {
  return table.body.flatMap((item) =>
    item.type === 'TOMLTable'
      ? item.body.flatMap((pair) => nestedPairs(item.resolvedKey.map(String), pair))
      : nestedPairs([], item),
  )
}

function nestedPairs(above: readonly string[], pair: AST.TOMLKeyValue): readonly TomlPair[] {
  const path = [...above, ...pair.key.keys.map((key) => (key.type === 'TOMLBare' ? key.name : key.value))]
  const inside = pair.value.type === 'TOMLInlineTable' ? pair.value.body : []
  return [{ path, pair }, ...inside.flatMap((each) => nestedPairs(path, each))]
}

function readLink(text: string, members: TomlMembers): EntryLink {
  const command = members.get('command')
  if (command === undefined)
    return members.has('url') ? { kind: 'remote' } : { kind: 'odd', why: NO_COMMAND_OR_URL }
  const word = readToken(command.value)
  if (word.value === undefined) return { kind: 'odd', why: COMMAND_NOT_STRING }
  const args = members.get('args')?.value
  if (args !== undefined && args.type !== 'TOMLArray') return { kind: 'odd', why: ARGS_NOT_LIST }
  return {
    kind: 'command',
    command: word,
    args: args && readArgList(args),
    beforeNewArgs: textBeforeNewArgs(text, command),
  }
}

function readArgList({ range: [start, end], elements }: AST.TOMLArray): ConfigArgList {
  return { start, end, items: elements.map(readToken) }
}

function readToken(node: AST.TOMLContentNode): ConfigToken {
  const [start, end] = node.range
  return { start, end, value: node.type === 'TOMLValue' && node.kind === 'string' ? node.value : undefined }
}

/** In a table, a new key starts a line, with the indentation and dotted prefix of the command's key. */
function textBeforeNewArgs(text: string, { key, parent }: AST.TOMLKeyValue): string {
  const [start] = key.range
  const dotted = text.slice(start, key.keys.at(-1)?.range[0])
  if (parent.type === 'TOMLInlineTable') return `, ${dotted}args = `
  const lineStart = text.slice(0, start).lastIndexOf('\n') + 1
  return `${text.includes('\r\n') ? '\r\n' : '\n'}${text.slice(lineStart, start)}${dotted}args = `
}

type TomlItem = AST.TOMLTable | AST.TOMLKeyValue

/** Reads the members of a server's table, and the range that contains them and nothing else. */
function readTomlEntry(
  table: AST.TOMLTopLevelTable,
  path: readonly string[],
): Pick<ConfigEntry, 'members' | 'span'> {
  const inline = findInlineTable(table, path)
  if (inline !== undefined)
    return { members: inline.body.flatMap((pair) => membersOfPair(pair, 0)), span: nodeRange(inline) }
  const { items, above } = findContainer(table, path)
  const below = path.slice(above)
  const own = items.filter((item) => startsWithPath(itemKeys(item), below))
  const first = items.indexOf(own[0]!)
  const isTogether = own.every((item, index) => items[first + index] === item)
  const members = own.flatMap((item) => membersOfItem(item, below))
  const [start, end] = [own[0]?.range[0] ?? 0, own.at(-1)?.range[1] ?? 0]
  return { members, span: isTogether && own.length > 0 ? { start, end } : undefined }
}

/** Finds what contains the parts of an entry, and its depth: the file, or a table with dotted keys. */
function findContainer(
  { body }: AST.TOMLTopLevelTable,
  path: readonly string[],
): { readonly items: readonly TomlItem[]; readonly above: number } {
  for (const item of body) {
    const keys = item.type === 'TOMLTable' ? itemKeys(item) : path
    if (item.type === 'TOMLKeyValue' || keys.length >= path.length || !startsWithPath(path, keys)) continue
    if (item.body.some((pair) => startsWithPath([...keys, ...pairKeys(pair)], path)))
      return { items: item.body, above: keys.length }
  }
  return { items: body, above: 0 }
}

/** The separator between two members: in a table, each member starts a line with the same indentation. */
function memberSeparator(text: string, { whole }: ConfigMember): string {
  const lineStart = text.slice(0, whole.start).lastIndexOf('\n') + 1
  const before = text.slice(lineStart, whole.start)
  if (!/^\s*$/.test(before)) return ', '
  return `${text.includes('\r\n') ? '\r\n' : '\n'}${before}`
}

/** Finds `server = { … }` anywhere in the file. */
function findInlineTable(
  table: AST.TOMLTopLevelTable,
  path: readonly string[],
): AST.TOMLInlineTable | undefined {
  for (const item of table.body) {
    const pairs = item.type === 'TOMLTable' ? item.body : [item]
    const above = item.type === 'TOMLTable' ? itemKeys(item) : []
    for (const pair of pairs) {
      const isIt = [...above, ...pairKeys(pair)].join('\0') === path.join('\0')
      if (isIt && pair.value.type === 'TOMLInlineTable') return pair.value
    }
  }
  return undefined
}

function membersOfItem(item: TomlItem, path: readonly string[]): readonly ConfigMember[] {
  if (item.type === 'TOMLKeyValue') return membersOfPair(item, path.length)
  const below = itemKeys(item).slice(path.length)
  if (below.length === 0) return item.body.flatMap((pair) => membersOfPair(pair, 0))
  return below.length === 1 ? [memberFromTable(item)] : []
}

/** The members that a pair sets below the entry's path: `url = …` or `env.KEY = …`. */
function membersOfPair(pair: AST.TOMLKeyValue, above: number): readonly ConfigMember[] {
  const [key, inner, deeper] = pair.key.keys.slice(above)
  if (key === undefined || deeper !== undefined) return []
  const own = memberFromPair(pair)
  return [inner === undefined ? own : { ...own, key: keyToken(key), inside: [own], isDotted: true }]
}

/** Reads `[server.env]`: a member whose key is in the header of its table. */
function memberFromTable(table: AST.TOMLTable): ConfigMember {
  const last = table.key.keys.at(-1)!
  return {
    key: keyToken(last),
    value: { ...nodeRange(table), value: undefined },
    whole: nodeRange(table),
    form: 'table',
    inside: table.body.map(memberFromPair),
  }
}

function memberFromPair(pair: AST.TOMLKeyValue): ConfigMember {
  const { value } = pair
  const inside = value.type === 'TOMLInlineTable' ? { inside: value.body.map(memberFromPair) } : {}
  const text = value.type === 'TOMLValue' && value.kind === 'string' ? value.value : undefined
  const key = keyToken(pair.key.keys.at(-1)!)
  const form = pair.parent.type === 'TOMLInlineTable' ? 'inline' : 'line'
  return { key, value: { ...nodeRange(value), value: text }, whole: nodeRange(pair), form, ...inside }
}

function keyToken(key: AST.TOMLBare | AST.TOMLQuoted): ConfigToken {
  return { ...nodeRange(key), value: key.type === 'TOMLBare' ? key.name : key.value }
}

function nodeRange({ range: [start, end] }: { readonly range: readonly [number, number] }): ConfigRange {
  return { start, end }
}

function itemKeys(item: TomlItem): readonly string[] {
  return item.type === 'TOMLTable' ? item.resolvedKey.map(String) : pairKeys(item)
}

function pairKeys({ key }: AST.TOMLKeyValue): readonly string[] {
  return key.keys.map((each) => (each.type === 'TOMLBare' ? each.name : each.value))
}

function startsWithPath(keys: readonly string[], path: readonly string[]): boolean {
  return path.every((part, index) => keys[index] === part)
}
