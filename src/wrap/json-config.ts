import { parseTree, printParseErrorCode, type Node, type ParseError } from 'jsonc-parser'
import {
  ODD_ARGS,
  ODD_COMMAND,
  ODD_WITHOUT_COMMAND,
  positionOf,
  SyntaxProblem,
  type ArgList,
  type ConfigFormat,
  type Entry,
  type Link,
  type Member,
  type Place,
  type Word,
} from './config-format.ts'

/** JSON, with the comments and trailing commas that most clients allow. */
export const jsonFormat: ConfigFormat = {
  entries(text, root) {
    const servers = root.reduce<Node | undefined>((node, key) => memberOf(node, key), rootOf(text))
    return membersOf(servers).map(([server, value]): Entry => ({
      server,
      link: linkOf(value),
      members: entryMembers(value),
      span: placeOf(value),
    }))
  },
  headersKey: 'headers',
  takesVariables: false,
  spell: (value) => JSON.stringify(value),
  pair: (key, value) => `${JSON.stringify(key)}: ${value}`,
  members: (_text, _at, now) => now.map(([key, value]) => jsonFormat.pair(key, value)).join(', '),
}

function entryMembers(node: Node): readonly Member[] {
  const pairs = (node.type === 'object' && node.children) || []
  return pairs.flatMap((pair) => {
    const [key, value] = pair.children ?? []
    if (key === undefined || value === undefined) return []
    const inside = value.type === 'object' ? { inside: entryMembers(value) } : {}
    return [{ key: wordOf(key), value: wordOf(value), whole: placeOf(pair), form: 'inline', ...inside }]
  })
}

function placeOf({ offset, length }: Node): Place {
  return { start: offset, end: offset + length }
}

function rootOf(text: string): Node | undefined {
  const errors: ParseError[] = []
  const root = parseTree(text, errors, { allowTrailingComma: true, allowEmptyContent: true })
  const [first] = errors
  if (first !== undefined) throw new SyntaxProblem(wordsOf(first), positionOf(text, first.offset))
  return root
}

/** `CommaExpected` is `comma expected`. */
function wordsOf({ error }: ParseError): string {
  return printParseErrorCode(error)
    .replaceAll(/(?<=[a-z])[A-Z]/g, (letter) => ` ${letter}`)
    .toLowerCase()
}

/** Zed has written a command both ways: as a string with args beside it, and as an object of its own. */
function linkOf(entry: Node): Link {
  const command = memberOf(entry, 'command')
  if (command === undefined) return withoutCommand(entry)
  if (command.type === 'object') return commandLink(memberOf(command, 'path'), memberOf(command, 'args'))
  return commandLink(command, memberOf(entry, 'args'))
}

function withoutCommand(entry: Node): Link {
  const isRemote = ['url', 'httpUrl', 'serverUrl'].some((key) => memberOf(entry, key) !== undefined)
  return isRemote ? { kind: 'remote' } : { kind: 'odd', why: ODD_WITHOUT_COMMAND }
}

function commandLink(command: Node | undefined, args: Node | undefined): Link {
  if (command?.type !== 'string') return { kind: 'odd', why: ODD_COMMAND }
  if (args !== undefined && args.type !== 'array') return { kind: 'odd', why: ODD_ARGS }
  return {
    kind: 'command',
    command: wordOf(command),
    args: args && listOf(args),
    beforeNewArgs: ', "args": ',
  }
}

function listOf(node: Node): ArgList {
  return { ...placeOf(node), items: (node.children ?? []).map(wordOf) }
}

function wordOf(node: Node): Word {
  const text: unknown = node.value
  return { ...placeOf(node), value: node.type === 'string' ? String(text) : undefined }
}

/** Of members that share a name the last one counts, as it does for the clients. */
function membersOf(node: Node | undefined): readonly (readonly [string, Node])[] {
  const members = new Map<string, Node>()
  for (const { children } of (node?.type === 'object' && node.children) || []) {
    const [key, value] = children ?? []
    if (key !== undefined && value !== undefined) members.set(String(key.value), value)
  }
  return [...members]
}

function memberOf(node: Node | undefined, key: string): Node | undefined {
  return membersOf(node).findLast(([name]) => name === key)?.[1]
}
