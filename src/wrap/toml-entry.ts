import type { AST } from 'toml-eslint-parser'
import type { ConfigEntry, ConfigMember, ConfigRange, ConfigToken } from './configs/config-format.ts'

type TomlItem = AST.TOMLTable | AST.TOMLKeyValue

/** The members of a server's table, and the stretch of text that holds them and nothing else. */
export function readTomlEntry(
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

/** What the parts of an entry are among, and how many keys lead there: a file, or the table that has them as dotted keys. */
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

/** What separates two members: in a table each begins a line, as the given one does. */
export function memberSeparator(text: string, { whole }: ConfigMember): string {
  const lineStart = text.slice(0, whole.start).lastIndexOf('\n') + 1
  const before = text.slice(lineStart, whole.start)
  if (!/^\s*$/.test(before)) return ', '
  return `${text.includes('\r\n') ? '\r\n' : '\n'}${before}`
}

/** `server = { … }`, wherever it stands. */
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

/** What a pair sets in the table of the entry, behind the keys that lead there: `url = …`, or `env.KEY = …`. */
function membersOfPair(pair: AST.TOMLKeyValue, above: number): readonly ConfigMember[] {
  const [key, inner, deeper] = pair.key.keys.slice(above)
  if (key === undefined || deeper !== undefined) return []
  const own = memberFromPair(pair)
  return [inner === undefined ? own : { ...own, key: keyToken(key), inside: [own], isDotted: true }]
}

/** `[server.env]`: a member whose key stands in the head of its table. */
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
