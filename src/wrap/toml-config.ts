import { ParseError, parseTOML, type AST } from 'toml-eslint-parser'
import type { Root } from './client.ts'
import { betweenMembers, tomlEntry } from './toml-entry.ts'
import {
  ODD_ARGS,
  ODD_COMMAND,
  ODD_WITHOUT_COMMAND,
  SyntaxProblem,
  type ArgList,
  type ConfigFormat,
  type Link,
  type Word,
} from './config-format.ts'

/** TOML: servers as tables, as inline tables or as dotted keys, wherever they stand in the file. */
export const tomlFormat: ConfigFormat = {
  entries(text, root) {
    const table = parse(text)
    return [...serversUnder(root, table)].map(([server, members]) => ({
      server,
      link: linkOf(text, members),
      ...tomlEntry(table, [...root, server]),
    }))
  },
  headersKey: 'http_headers',
  takesVariables: true,
  // Of what JSON leaves as it is, TOML wants one character escaped.
  spell: (value) => JSON.stringify(value).replaceAll('\u007F', '\\u007F'),
  pair: (key, value) => `${/^[\w-]+$/.test(key) ? key : tomlFormat.spell(key)} = ${value}`,
  members: (text, at, now) => {
    const dotted = text.slice(at.whole.start, at.key.start)
    const between = betweenMembers(text, at)
    return now.map(([key, value]) => dotted + tomlFormat.pair(key, value)).join(between)
  },
}

type Members = Map<string, AST.TOMLKeyValue>

function serversUnder(root: Root, table: AST.TOMLTopLevelTable): ReadonlyMap<string, Members> {
  const servers = new Map<string, Members>()
  for (const { path, pair } of pairsOf(table)) {
    const [server, key] = path.slice(root.length)
    if (server === undefined || !root.every((part, index) => part === path[index])) continue
    const members = servers.get(server) ?? new Map<string, AST.TOMLKeyValue>()
    servers.set(server, members)
    if (key !== undefined && path.length === root.length + 2) members.set(key, pair)
  }
  return servers
}

function parse(text: string): AST.TOMLTopLevelTable {
  try {
    return parseTOML(text, { tomlVersion: '1.1' }).body[0]
  } catch (error) {
    if (!(error instanceof ParseError)) throw error
    throw new SyntaxProblem(error.message.toLowerCase(), { line: error.lineNumber, column: error.column + 1 })
  }
}

interface Pair {
  readonly path: readonly string[]
  readonly pair: AST.TOMLKeyValue
}

/** Every key of the file with the whole path that leads to it. */
function pairsOf(table: AST.TOMLTopLevelTable): readonly Pair[] {
  return table.body.flatMap((item) =>
    item.type === 'TOMLTable'
      ? item.body.flatMap((pair) => pairsIn(item.resolvedKey.map(String), pair))
      : pairsIn([], item),
  )
}

function pairsIn(above: readonly string[], pair: AST.TOMLKeyValue): readonly Pair[] {
  const path = [...above, ...pair.key.keys.map((key) => (key.type === 'TOMLBare' ? key.name : key.value))]
  const inside = pair.value.type === 'TOMLInlineTable' ? pair.value.body : []
  return [{ path, pair }, ...inside.flatMap((each) => pairsIn(path, each))]
}

function linkOf(text: string, members: Members): Link {
  const command = members.get('command')
  if (command === undefined)
    return members.has('url') ? { kind: 'remote' } : { kind: 'odd', why: ODD_WITHOUT_COMMAND }
  const word = wordOf(command.value)
  if (word.value === undefined) return { kind: 'odd', why: ODD_COMMAND }
  const args = members.get('args')?.value
  if (args !== undefined && args.type !== 'TOMLArray') return { kind: 'odd', why: ODD_ARGS }
  return {
    kind: 'command',
    command: word,
    args: args && listOf(args),
    beforeNewArgs: beforeNewArgs(text, command),
  }
}

function listOf({ range: [start, end], elements }: AST.TOMLArray): ArgList {
  return { start, end, items: elements.map(wordOf) }
}

function wordOf(node: AST.TOMLContentNode): Word {
  const [start, end] = node.range
  return { start, end, value: node.type === 'TOMLValue' && node.kind === 'string' ? node.value : undefined }
}

/** In a table a key begins a line, with the indentation and the dotted beginning of the command's key. */
function beforeNewArgs(text: string, { key, parent }: AST.TOMLKeyValue): string {
  const [start] = key.range
  const dotted = text.slice(start, key.keys.at(-1)?.range[0])
  if (parent.type === 'TOMLInlineTable') return `, ${dotted}args = `
  const lineStart = text.slice(0, start).lastIndexOf('\n') + 1
  return `${text.includes('\r\n') ? '\r\n' : '\n'}${text.slice(lineStart, start)}${dotted}args = `
}
