import { membersOf, rangeAt } from '../wire/members.ts'

const ANSWERS = ['params', 'inputResponses']

/** A request whose answers to a round of input have other names, all at once; what has none any more is left out. */
export function withInputNames(text: string, names: ReadonlyMap<string, string | undefined>): string {
  return rewritten(text, ANSWERS, names)
}

/** An answer that asks for input, with other names for it. */
export function withAskedNames(text: string, names: ReadonlyMap<string, string | undefined>): string {
  return rewritten(text, ['result', 'inputRequests'], names)
}

function rewritten(
  text: string,
  path: readonly string[],
  names: ReadonlyMap<string, string | undefined>,
): string {
  const range = rangeAt(text, path)
  if (range === undefined || text[range.start] !== '{') return text
  if ([...names].every(([name, now]) => name === now)) return text
  const json = text.slice(range.start, range.end)
  const members = [...membersOf(json)].flatMap(([name, { start, end }]) => {
    const now = names.has(name) ? names.get(name) : name
    return now === undefined ? [] : [`${JSON.stringify(now)}:${json.slice(start, end)}`]
  })
  return `${text.slice(0, range.start)}{${members.join(',')}}${text.slice(range.end)}`
}
