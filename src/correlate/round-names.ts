import { memberRanges, findRange } from '../json/find.ts'

const INPUT_RESPONSES_PATH = ['params', 'inputResponses']

/** A request whose answers to a round of input have other names, all at once; what has none any more is left out. */
export function renameInputResponses(text: string, names: ReadonlyMap<string, string | undefined>): string {
  return renameMembers(text, INPUT_RESPONSES_PATH, names)
}

/** An answer that asks for input, with other names for it. */
export function renameInputRequests(text: string, names: ReadonlyMap<string, string | undefined>): string {
  return renameMembers(text, ['result', 'inputRequests'], names)
}

function renameMembers(
  text: string,
  path: readonly string[],
  names: ReadonlyMap<string, string | undefined>,
): string {
  const range = findRange(text, path)
  if (range === undefined || text[range.start] !== '{') return text
  if ([...names].every(([name, now]) => name === now)) return text
  const json = text.slice(range.start, range.end)
  const members = [...memberRanges(json)].flatMap(([name, { start, end }]) => {
    const now = names.has(name) ? names.get(name) : name
    return now === undefined ? [] : [`${JSON.stringify(now)}:${json.slice(start, end)}`]
  })
  return `${text.slice(0, range.start)}{${members.join(',')}}${text.slice(range.end)}`
}
