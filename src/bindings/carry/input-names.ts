import { canonicalJson } from '../../json/canonical.ts'
import { memberRanges, findRange, jsonLeaves } from '../../json/find-replace.ts'
import { parseJson, member } from '../../json/parse.ts'

/** The JSON texts of input requests or responses, by the names that the server generated. */
export type RoundInputTexts = ReadonlyMap<string, string>

/** Returns the input requests in a response, or `undefined` if there are none. */
export function inputRequestTexts(text: string): RoundInputTexts | undefined {
  return text.includes('"inputRequests"') ? memberTextsAt(text, ['result', 'inputRequests']) : undefined
}

/** Returns the input responses in a request, or `undefined` if there are none. */
export function inputResponseTexts(text: string): RoundInputTexts | undefined {
  return text.includes('"inputResponses"') ? memberTextsAt(text, ['params', 'inputResponses']) : undefined
}

function memberTextsAt(text: string, path: readonly string[]): RoundInputTexts | undefined {
  const range = findRange(text, path)
  if (range === undefined || text[range.start] !== '{') return undefined
  const json = text.slice(range.start, range.end)
  return new Map([...memberRanges(json)].map(([name, { start, end }]) => [name, json.slice(start, end)]))
}

/**
 * Maps the names of recorded input requests to the names of live ones. Equal content is preferred to an equal name, and an equal
 * name to similar content. Requests of different methods are never paired.
 */
export function pairInputRequests(
  recorded: RoundInputTexts,
  live: RoundInputTexts,
): ReadonlyMap<string, string> {
  const pairs = new Map<string, string>()
  const left = { recorded: comparableInputs(recorded), live: comparableInputs(live) }
  for (const isSame of [SAME_ALL, SAME_CONTENT, SAME_NAME]) pairBy(left, pairs, isSame)
  for (const one of left.recorded) {
    const nearest = nearestInput(one, left.live)
    if (nearest === undefined) continue
    pairs.set(one.name, nearest.name)
    left.live.splice(left.live.indexOf(nearest), 1)
  }
  return pairs
}

interface ComparableInput {
  readonly name: string
  readonly method: unknown
  /** Canonical JSON, so that equal requests have equal texts. */
  readonly content: string
  /** The leaves, each with its path. */
  readonly leaves: ReadonlySet<string>
}

type InputKey = (input: ComparableInput) => string

const SAME_ALL: InputKey = ({ name, content }) => `${name}\n${content}`
const SAME_CONTENT: InputKey = ({ content }) => content
const SAME_NAME: InputKey = ({ name, method }) => `${name}\n${String(method)}`

function comparableInputs(inputs: RoundInputTexts): ComparableInput[] {
  return [...inputs].map(([name, json]) => {
    const value = parseJson(json)
    const leaves = jsonLeaves(json).map(({ path, start, end }) =>
      JSON.stringify([path, json.slice(start, end)]),
    )
    return { name, method: member(value, 'method'), content: canonicalJson(value), leaves: new Set(leaves) }
  })
}

/** Pairs requests with the same key in order, and removes the pairs from `left`. */
function pairBy(
  left: { recorded: ComparableInput[]; live: ComparableInput[] },
  pairs: Map<string, string>,
  keyOf: InputKey,
): void {
  const free = groupInputs(left.live, keyOf)
  const taken = new Set<ComparableInput>()
  left.recorded = left.recorded.filter((one) => {
    const other = free.get(keyOf(one))?.shift()
    if (other === undefined) return true
    pairs.set(one.name, other.name)
    taken.add(other)
    return false
  })
  left.live = left.live.filter((one) => !taken.has(one))
}

function groupInputs(
  inputs: readonly ComparableInput[],
  keyOf: InputKey,
): ReadonlyMap<string, ComparableInput[]> {
  const groups = new Map<string, ComparableInput[]>()
  for (const input of inputs) groups.set(keyOf(input), [...(groups.get(keyOf(input)) ?? []), input])
  return groups
}

/** Returns the first request of the same method with the most leaves in common. */
function nearestInput(
  { method, leaves }: ComparableInput,
  others: readonly ComparableInput[],
): ComparableInput | undefined {
  const near = others.slice(0, MOST_INPUTS).filter((other) => other.method === method)
  const shared = (other: ComparableInput): number =>
    [...other.leaves].filter((leaf) => leaves.has(leaf)).length
  return near.map((other) => ({ other, score: shared(other) })).toSorted((a, b) => b.score - a.score)[0]
    ?.other
}

// Every request is compared with every other one. No client answers more requests than this at once.
const MOST_INPUTS = 100

const INPUT_RESPONSES_PATH = ['params', 'inputResponses']

/** Renames the input responses of a request. Responses whose new name is `undefined` are removed. */
export function renameInputResponses(text: string, names: ReadonlyMap<string, string | undefined>): string {
  return renameMembers(text, INPUT_RESPONSES_PATH, names)
}

/** Renames the input requests of a response. */
function renameInputRequests(text: string, names: ReadonlyMap<string, string | undefined>): string {
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

/** Renames the requests for input in a live answer to their recorded names. */
export function withRecordedInputs(recorded: string, live: string): string {
  const [then, now] = [inputRequestTexts(recorded), inputRequestTexts(live)]
  if (then === undefined || now === undefined) return live
  return renameInputRequests(live, recordedInputNames(then, now))
}

function recordedInputNames(then: RoundInputTexts, now: RoundInputTexts): ReadonlyMap<string, string> {
  const names = new Map([...pairInputRequests(then, now)].map(([recorded, live]) => [live, recorded]))
  const taken = new Set(names.values())
  // The live server uses a recorded name for something else.
  for (const live of now.keys()) if (!names.has(live) && taken.has(live)) names.set(live, `${live} (new)`)
  return names
}
