import type { AST } from 'toml-eslint-parser'
import type { Entry, Member, Place, Word } from './config-format.ts'

type Item = AST.TOMLTable | AST.TOMLKeyValue

/** The members of a server's table, and the stretch of text that holds them and nothing else. */
export function tomlEntry(
  table: AST.TOMLTopLevelTable,
  path: readonly string[],
): Pick<Entry, 'members' | 'span'> {
  const inline = inlineTable(table, path)
  if (inline !== undefined) return { members: inline.body.map(memberOf), span: placeOf(inline) }
  const own = table.body.filter((item) => isBelow(keysOf(item), path))
  const first = table.body.indexOf(own[0]!)
  const isTogether = own.every((item, index) => table.body[first + index] === item)
  const members = own.flatMap((item) => membersIn(item, path))
  const [start, end] = [own[0]?.range[0] ?? 0, own.at(-1)?.range[1] ?? 0]
  return { members, span: isTogether && own.length > 0 ? { start, end } : undefined }
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
  if (item.type === 'TOMLKeyValue') return namesOf(item).length === path.length + 1 ? [memberOf(item)] : []
  const below = keysOf(item).slice(path.length)
  if (below.length === 0) return item.body.filter((pair) => namesOf(pair).length === 1).map(memberOf)
  return below.length === 1 ? [tableMember(item)] : []
}

/** `[server.env]`: a member whose key stands in the head of its table. */
function tableMember(table: AST.TOMLTable): Member {
  const last = table.key.keys.at(-1)!
  return {
    key: keyWord(last),
    value: { ...placeOf(table), value: undefined },
    whole: placeOf(table),
    inside: table.body.map(memberOf),
  }
}

function memberOf(pair: AST.TOMLKeyValue): Member {
  const { value } = pair
  const inside = value.type === 'TOMLInlineTable' ? { inside: value.body.map(memberOf) } : {}
  const text = value.type === 'TOMLValue' && value.kind === 'string' ? value.value : undefined
  const key = keyWord(pair.key.keys.at(-1)!)
  return { key, value: { ...placeOf(value), value: text }, whole: placeOf(pair), ...inside }
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
