import { ParseError, parseTOML, type AST } from 'toml-eslint-parser'
import type { ServerTablePath } from '../../clients/client.ts'
import { memberSeparator, readTomlEntry } from '../../toml-entry.ts'
import {
  ARGS_NOT_LIST,
  COMMAND_NOT_STRING,
  NO_COMMAND_OR_URL,
  ConfigSyntaxError,
  type ConfigArgList,
  type ConfigFormat,
  type EntryLink,
  type ConfigToken,
} from '../config-format.ts'

/** TOML: servers as tables, as inline tables or as dotted keys, wherever they stand in the file. */
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
  // Of what JSON leaves as it is, TOML wants one character escaped.
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

/** Every key of the file with the whole path that leads to it. */
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

/** In a table a key begins a line, with the indentation and the dotted beginning of the command's key. */
function textBeforeNewArgs(text: string, { key, parent }: AST.TOMLKeyValue): string {
  const [start] = key.range
  const dotted = text.slice(start, key.keys.at(-1)?.range[0])
  if (parent.type === 'TOMLInlineTable') return `, ${dotted}args = `
  const lineStart = text.slice(0, start).lastIndexOf('\n') + 1
  return `${text.includes('\r\n') ? '\r\n' : '\n'}${text.slice(lineStart, start)}${dotted}args = `
}
