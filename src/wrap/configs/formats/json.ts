import { parseTree, printParseErrorCode, type Node, type ParseError } from 'jsonc-parser'
import {
  ARGS_NOT_LIST,
  COMMAND_NOT_STRING,
  NO_COMMAND_OR_URL,
  lineAndColumn,
  ConfigSyntaxError,
  type ConfigArgList,
  type ConfigFormat,
  type ConfigEntry,
  type EntryLink,
  type ConfigMember,
  type ConfigRange,
  type ConfigToken,
} from '../config-format.ts'

/** JSON with comments and trailing commas, which most clients accept. */
export const jsonConfigFormat: ConfigFormat = {
  readEntries(text, root) {
    const servers = root.reduce<Node | undefined>((node, key) => findNode(node, key), parseRoot(text))
    return namedNodes(servers).map(([server, value]): ConfigEntry => ({
      server,
      link: readLink(value),
      members: readMembers(value),
      span: nodeRange(value),
    }))
  },
  headersKey: 'headers',
  supportsHeaderVariables: false,
  quote: (value) => JSON.stringify(value),
  formatPair: (key, value) => `${JSON.stringify(key)}: ${value}`,
  formatMembers: (_text, _at, now) =>
    now.map(([key, value]) => jsonConfigFormat.formatPair(key, value)).join(', '),
}

function readMembers(node: Node): readonly ConfigMember[] {
  const pairs = (node.type === 'object' && node.children) || []
  return pairs.flatMap((pair) => {
    const [key, value] = pair.children ?? []
    if (key === undefined || value === undefined) return []
    const inside = value.type === 'object' ? { inside: readMembers(value) } : {}
    return [
      { key: readToken(key), value: readToken(value), whole: nodeRange(pair), form: 'inline', ...inside },
    ]
  })
}

function nodeRange({ offset, length }: Node): ConfigRange {
  return { start: offset, end: offset + length }
}

function parseRoot(text: string): Node | undefined {
  const errors: ParseError[] = []
  const root = parseTree(text, errors, { allowTrailingComma: true, allowEmptyContent: true })
  const [first] = errors
  if (first !== undefined)
    throw new ConfigSyntaxError(describeParseError(first), lineAndColumn(text, first.offset))
  return root
}

/** Turns `CommaExpected` into `comma expected`. */
function describeParseError({ error }: ParseError): string {
  return printParseErrorCode(error)
    .replaceAll(/(?<=[a-z])[A-Z]/g, (letter) => ` ${letter}`)
    .toLowerCase()
}

/** Zed has used two forms: a command string with `args` beside it, and a command object. */
function readLink(entry: Node): EntryLink {
  const command = findNode(entry, 'command')
  if (command === undefined) return readRemoteLink(entry)
  if (command.type === 'object') return readCommandLink(findNode(command, 'path'), findNode(command, 'args'))
  return readCommandLink(command, findNode(entry, 'args'))
}

function readRemoteLink(entry: Node): EntryLink {
  const isRemote = ['url', 'httpUrl', 'serverUrl'].some((key) => findNode(entry, key) !== undefined)
  return isRemote ? { kind: 'remote' } : { kind: 'odd', why: NO_COMMAND_OR_URL }
}

function readCommandLink(command: Node | undefined, args: Node | undefined): EntryLink {
  if (command?.type !== 'string') return { kind: 'odd', why: COMMAND_NOT_STRING }
  if (args !== undefined && args.type !== 'array') return { kind: 'odd', why: ARGS_NOT_LIST }
  return {
    kind: 'command',
    command: readToken(command),
    args: args && readArgList(args),
    beforeNewArgs: ', "args": ',
  }
}

function readArgList(node: Node): ConfigArgList {
  return { ...nodeRange(node), items: (node.children ?? []).map(readToken) }
}

function readToken(node: Node): ConfigToken {
  const text: unknown = node.value
  return { ...nodeRange(node), value: node.type === 'string' ? String(text) : undefined }
}

/** Members by name. The last duplicate wins, as it does in the clients. */
function namedNodes(node: Node | undefined): readonly (readonly [string, Node])[] {
  const members = new Map<string, Node>()
  for (const { children } of (node?.type === 'object' && node.children) || []) {
    const [key, value] = children ?? []
    if (key !== undefined && value !== undefined) members.set(String(key.value), value)
  }
  return [...members]
}

function findNode(node: Node | undefined, key: string): Node | undefined {
  return namedNodes(node).findLast(([name]) => name === key)?.[1]
}
