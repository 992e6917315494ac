import type { AST } from 'toml-eslint-parser'
import type { Entry, Member, Place, Word } from './config-format.ts'

type Item = AST.TOMLTable | AST.TOMLKeyValue

/** The members of a server's table, and the stretch of text that holds them and nothing else. */
export function tomlEntry(
  table: AST.TOMLTopLevelTable,
  path: readonly string[],
): Pick<Entry, 'members' | 'span'> {
  const inline = inlineTable(table, path)
  if (inline !== undefined)
    return { members: inline.body.flatMap((pair) => membersOf(pair, 0)), span: placeOf(inline) }
  const { items, above } = holderOf(table, path)
  const below = path.slice(above)
  const own = items.filter((item) => isBelow(keysOf(item), below))
  const first = items.indexOf(own[0]!)
  const isTogether = own.every((item, index) => items[first + index] === item)
  const members = own.flatMap((item) => membersIn(item, below))
  const [start, end] = [own[0]?.range[0] ?? 0, own.at(-1)?.range[1] ?? 0]
  return { members, span: isTogether && own.length > 0 ? { start, end } : undefined }
}

/** What the parts of an entry are among, and how many keys lead there: a file, or the table that has them as dotted keys. */
function holderOf(
  { body }: AST.TOMLTopLevelTable,
  path: readonly string[],
): { readonly items: readonly Item[]; readonly above: number } {
  for (const item of body) {
    const keys = item.type === 'TOMLTable' ? keysOf(item) : path
    if (item.type === 'TOMLKeyValue' || keys.length >= path.length || !isBelow(path, keys)) continue
    if (item.body.some((pair) => isBelow([...keys, ...namesOf(pair)], path)))
      return { items: item.body, above: keys.length }
  }
  return { items: body, above: 0 }
}

/** What separates two members: in a table each begins a line, as the given one does. */
export function betweenMembers(text: string, { whole }: Member): string {
  const lineStart = text.slice(0, whole.start).lastIndexOf('\n') + 1
  const before = text.slice(lineStart, whole.start)
  if (!/^\s*$/.test(before)) return ', '
  return `${text.includes('\r\n') ? '\r\n' : '\n'}${before}`
}

/** `server = { … }`, wherever it stands. */
function inlineTable(table: AST.TOMLTopLevelTable, path: readonly string[]): AST.TOMLInlineTable | undefined {
  for (const item of table.body) {
    const pairs = item.type === 'TOMLTable' ? item.body : [item]
    const above = item.type === 'TOMLTable' ? keysOf(item) : []
    for (const pair of pairs) {
      const isIt = [...above, ...namesOf(pair)].join('\0') === path.join('\0')
      if (isIt && pair.value.type === 'TOMLInlineTable') return pair.value
    }
  }
  return undefined
}

function membersIn(item: Item, path: readonly string[]): readonly Member[] {
  if (item.type === 'TOMLKeyValue') return membersOf(item, path.length)
  const below = keysOf(item).slice(path.length)
  if (below.length === 0) return item.body.flatMap((pair) => membersOf(pair, 0))
  return below.length === 1 ? [tableMember(item)] : []
}

/** What a pair sets in the table of the entry, behind the keys that lead there: `url = …`, or `env.KEY = …`. */
function membersOf(pair: AST.TOMLKeyValue, above: number): readonly Member[] {
  const [key, inner, deeper] = pair.key.keys.slice(above)
  if (key === undefined || deeper !== undefined) return []
  const own = memberOf(pair)
  return [inner === undefined ? own : { ...own, key: keyWord(key), inside: [own], isDotted: true }]
}

/** `[server.env]`: a member whose key stands in the head of its table. */
function tableMember(table: AST.TOMLTable): Member {
  const last = table.key.keys.at(-1)!
  return {
    key: keyWord(last),
    value: { ...placeOf(table), value: undefined },
    whole: placeOf(table),
    form: 'table',
    inside: table.body.map(memberOf),
  }
}

function memberOf(pair: AST.TOMLKeyValue): Member {
  const { value } = pair
  const inside = value.type === 'TOMLInlineTable' ? { inside: value.body.map(memberOf) } : {}
  const text = value.type === 'TOMLValue' && value.kind === 'string' ? value.value : undefined
  const key = keyWord(pair.key.keys.at(-1)!)
  const form = pair.parent.type === 'TOMLInlineTable' ? 'inline' : 'line'
  return { key, value: { ...placeOf(value), value: text }, whole: placeOf(pair), form, ...inside }
}

function keyWord(key: AST.TOMLBare | AST.TOMLQuoted): Word {
  return { ...placeOf(key), value: key.type === 'TOMLBare' ? key.name : key.value }
}

function placeOf({ range: [start, end] }: { readonly range: readonly [number, number] }): Place {
  return { start, end }
}

function keysOf(item: Item): readonly string[] {
  return item.type === 'TOMLTable' ? item.resolvedKey.map(String) : namesOf(item)
}

function namesOf({ key }: AST.TOMLKeyValue): readonly string[] {
  return key.keys.map((each) => (each.type === 'TOMLBare' ? each.name : each.value))
}

function isBelow(keys: readonly string[], path: readonly string[]): boolean {
  return path.every((part, index) => keys[index] === part)
}
