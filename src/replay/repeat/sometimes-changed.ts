import { nameWords } from '../../bindings/names.ts'
import { longestCommonSubsequence } from '../../diff/align.ts'
import type { Difference } from '../../diff/difference.ts'
import { proseTokens } from '../../diff/formats/prose.ts'
import { valuesOfOtherForm } from '../../diff/noise/value-form.ts'
import { member } from '../../json/parse.ts'
import { formatPath, type JsonPath } from '../../json/path.ts'
import type { ReplayStep, StepFinding } from '../steps/step.ts'
import { isOfOtherKind } from './exchange-noise.ts'

/**
 * Returns the findings about one message that are not noise, although the runs differ there: the value is as recorded in some
 * runs, and has changed in the others. A place that looks random has three or more different values. `isByChance` tells if items come in another
 * order only because noise makes others alike.
 */
export function sometimesChanged(
  runs: readonly ReplayStep[],
  isByChance: (finding: StepFinding) => boolean,
): ReadonlySet<StepFinding> {
  const comparable = runs.filter(
    (step) => (step.answer !== undefined || step.notifications !== undefined) && !isOfOtherKind(step),
  )
  if (comparable.length < 2 || comparable.every(({ findings }) => findings.length === 0)) return NONE
  const whole = { texts: textsWithoutTemplate(comparable), lists: listsWithoutOrder(comparable) }
  const random = randomMessages(comparable)
  const hasOtherCount = comparable.some(({ findings }) =>
    findings.some((one) => one.isOneOfMany && isProgress(one)),
  )
  const samples = comparable.map(({ findings }) =>
    findings
      .filter((one) => !random.has(messageKey(one)) && !isByChance(one))
      .flatMap((one) => (hasOtherCount && isProgress(one) ? [progressPlace(one)] : placesOf(one, whole))),
  )
  const alternating = alternatingPlaces(samples, comparable.map(changesInside))
  const otherForms = findingsOfOtherForm(comparable, whole.lists)
  const otherItems = findingsOfItems(comparable)
  if (alternating.size + otherForms.length + otherItems.length === 0) return NONE
  const lists = randomLists(comparable)
  const found = samples.flatMap((places) => places.filter(({ place }) => alternating.has(place)))
  const isOrdered = (finding: StepFinding): boolean => !isInside(finding, lists)
  return new Set([
    ...[...found.map(({ finding }) => finding), ...otherForms].filter(isOrdered),
    ...otherItems,
  ])
}

/** The findings about items of a list that come and go together, whatever the order of the list. In a random selection, several items come and go alone. */
function findingsOfItems(runs: readonly ReplayStep[]): readonly StepFinding[] {
  const lists = new Map<string, Map<number, StepFinding[]>>()
  for (const [run, { findings }] of runs.entries())
    for (const finding of findings) {
      const { kind, path = [] } = finding.difference ?? {}
      if (typeof path.at(-1) !== 'number' || kind === 'order') continue
      const list = formatPath(path.slice(0, -1))
      const ofList = lists.get(list) ?? new Map<number, StepFinding[]>()
      lists.set(list, ofList.set(run, [...(ofList.get(run) ?? []), finding]))
    }
  return [...lists.values()].flatMap((byRun) => {
    const states = runs.map((_, run) => itemsThatDiffer(byRun.get(run) ?? []))
    const isOneState = states.includes('') && new Set(states).size === 2
    return isOneState ? [...byRun].flatMap(([run, findings]) => (states[run] === '' ? [] : findings)) : []
  })
}

/** The items that are missing or new in a list. Empty if items only changed their places. */
function itemsThatDiffer(findings: readonly StepFinding[]): string {
  const [lost, added] = (['expected', 'actual'] as const).map((side) =>
    findings.flatMap(({ difference }) =>
      difference !== undefined && side in difference ? [JSON.stringify(difference[side])] : [],
    ),
  )
  const [gone, fresh] = [without(lost, added), without(added, lost)]
  return gone.length + fresh.length === 0 ? '' : JSON.stringify([gone.toSorted(), fresh.toSorted()])
}

/** The items that are not in another list. An item that is twice in the first and once in the other stays once. */
function without(items: readonly string[] = [], others: readonly string[] = []): readonly string[] {
  const left = [...others]
  return items.filter((item) => {
    const at = left.indexOf(item)
    if (at >= 0) left.splice(at, 1)
    return at < 0
  })
}

/** Returns true if a finding is about something in one of the lists. */
function isInside({ difference }: StepFinding, lists: ReadonlySet<string>): boolean {
  return difference?.path.some((_, end) => lists.has(formatPath(difference.path.slice(0, end)))) === true
}

/** The findings about values that vary in every run, and that have the recorded form in some runs and another one in the others. */
function findingsOfOtherForm(
  runs: readonly ReplayStep[],
  listsWithoutIndexes: ReadonlySet<string>,
): readonly StepFinding[] {
  const places = new Map<string, Map<number, StepFinding>>()
  for (const [run, { findings }] of runs.entries())
    for (const finding of findings) {
      if (finding.difference === undefined || isInside(finding, listsWithoutIndexes)) continue
      const path = formatPath(finding.difference.path)
      places.set(path, (places.get(path) ?? new Map<number, StepFinding>()).set(run, finding))
    }
  return [...places.values()].flatMap((findings) => {
    const differences = Array.from(findings.values(), ({ difference }) => difference)
    if (!differences.every((one) => one?.kind === 'changed' || one?.kind === 'type')) return []
    const recorded = differences[0]?.expected
    const lives = runs.map((_, run) => {
      const difference = findings.get(run)?.difference
      return difference === undefined ? recorded : difference.actual
    })
    return Array.from(valuesOfOtherForm(recorded, lives), (run) => findings.get(run)).filter(
      (finding) => finding !== undefined,
    )
  })
}

const NONE: ReadonlySet<StepFinding> = new Set()

/** How many different values, including the recorded one, a place must have had to be taken for random. */
const LEAST_RANDOM = 3

/** A place at which a run is not as recorded. */
interface ChangedPlace {
  readonly finding: StepFinding
  readonly place: string
  readonly value: string
  /** Short durations are often equal by chance. */
  readonly isDuration: boolean
  /** It is a part of a text. */
  readonly isWord?: true
  /** Only the number of similar notifications differs, which depends on the time that things take. */
  readonly isCount?: true
}

/** If another number of reports came, the reports differ too. */
function progressPlace(finding: StepFinding): ChangedPlace {
  const { path, actual, expected, difference } = finding
  const value = JSON.stringify([path, difference?.kind, actual ?? expected])
  return { finding, place: 'progress', value, isDuration: false, isCount: true }
}

function isProgress({ layer, difference }: StepFinding): boolean {
  return layer === 'notifications' && difference?.path[0] !== 'connection'
}

/**
 * The log messages that have three or more levels in the recording and the runs, or that vary beside others with five or more: they are
 * different messages each time. A message is compared with an equal one if there is one, so that single places vary less.
 */
function randomMessages(runs: readonly ReplayStep[]): ReadonlySet<string | undefined> {
  const levels = new Map<string, Set<unknown>>()
  const all = new Set<unknown>()
  for (const finding of runs.flatMap(({ findings }) => findings)) {
    const [key, isLevel] = [messageKey(finding), finding.difference?.path[3] === 'level']
    if (key === undefined || !isLevel) continue
    levels.set(key, (levels.get(key) ?? new Set()).add(finding.actual))
    all.add(finding.expected).add(finding.actual)
  }
  const isRandom = (values: ReadonlySet<unknown>): boolean =>
    all.size >= LEAST_RANDOM_LEVELS || values.size + 1 >= LEAST_RANDOM
  return new Set([...levels].flatMap(([key, values]) => (isRandom(values) ? key : [])))
}

const LEAST_RANDOM_LEVELS = 5

/** The notification of a connection that a finding is about, such as `frame-12`. */
function messageKey({ layer, difference }: StepFinding): string | undefined {
  const [root, key] = difference?.path ?? []
  return layer === 'notifications' && root === 'connection' ? String(key) : undefined
}

/** What differs inside of the values of a run, by the place of the value: such a value is not as recorded. */
function changesInside({ findings }: ReplayStep): ReadonlyMap<string, string> {
  const inside = new Map<string, string>()
  for (const { difference, path, actual } of findings)
    for (let end = (difference?.path.length ?? 0) - 1; end > 1; end--) {
      const place = JSON.stringify([formatPath(difference?.path.slice(0, end) ?? [])])
      inside.set(place, `${inside.get(place) ?? ''}\n${JSON.stringify([path, actual])}`)
    }
  return inside
}

function alternatingPlaces(
  samples: readonly (readonly ChangedPlace[])[],
  inside: readonly ReadonlyMap<string, string>[],
): ReadonlySet<string> {
  // What is missing in some runs is there in the others, also if something in it differs.
  const removed = new Set(samples.flat().flatMap((one) => (isRemoved(one) ? one.place : [])))
  const runs = samples.map((places, run) => {
    const values = new Map([...(inside[run] ?? [])].filter(([place]) => !removed.has(place)))
    for (const { place, value } of places) values.set(place, `${values.get(place) ?? ''}\n${value}`)
    return values
  })
  const changed = samples.flat().filter(({ isDuration }) => !isDuration)
  // A number that varies by chance is sometimes equal in two runs in a row.
  const counts = new Set(changed.flatMap(({ place, isCount }) => (isCount ? place : [])))
  const alternating = [...new Set(changed.map(({ place }) => place))].filter((place) => {
    const live = runs.map((values) => values.get(place))
    if (!live.includes(undefined) || new Set(live).size >= LEAST_RANDOM) return false
    return !counts.has(place) || live.every((value, run) => run === 0 || value !== live[run - 1])
  })
  const independent = independentPlaces(
    changed.filter(({ place }) => alternating.includes(place)),
    runs,
  )
  return new Set(alternating.filter((place) => !independent.has(place)))
}

function isRemoved({ finding: { difference } }: ChangedPlace): boolean {
  return difference?.kind === 'removed' && typeof difference.path.at(-1) !== 'number'
}

/**
 * Finds places of the same kind, such as a flag of every item, that change independently of each other: they are random, also if each has
 * two values only. A change that comes and goes changes all of its places in the same runs.
 */
function independentPlaces(
  changed: readonly ChangedPlace[],
  runs: readonly ReadonlyMap<string, string>[],
): ReadonlySet<string> {
  const groups = new Map<string, Set<string>>()
  for (const { place, isWord, finding } of changed)
    for (const sibling of isWord === true ? [] : siblingPaths(finding.difference?.path ?? []))
      groups.set(sibling, (groups.get(sibling) ?? new Set<string>()).add(place))
  const patternOf = (place: string): string => runs.map((values) => (values.has(place) ? '1' : '0')).join('')
  const random = [...groups.values()].filter(
    (places) => new Set(Array.from(places, patternOf)).size >= LEAST_RANDOM,
  )
  return new Set(random.flatMap((places) => [...places]))
}

/** The path with `*` in place of its indexes, and in place of one name: places for which one of them is equal are of the same kind. */
function siblingPaths(path: JsonPath): readonly string[] {
  const general = path.map((segment) => (typeof segment === 'number' ? '*' : segment))
  const named = general.map((segment, at) => (segment === '*' ? general : general.with(at, '*')))
  return [...new Set([general, ...named].map((one) => JSON.stringify(one)))]
}

/** Lists the places of a finding: of a text that follows a template, each changed word is a place. */
function placesOf(finding: StepFinding, whole: WholePlaces): readonly ChangedPlace[] {
  const { difference } = finding
  if (difference === undefined || (difference.kind === 'order' && difference.actual === undefined)) return []
  const { kind, path, expected, actual } = difference
  if (messageKey(finding) !== undefined && (path.length === 2 || finding.isOneOfMany))
    return [streamPlace(finding)]
  // Items of a list come and go together, so the list is the place.
  const last = path.at(-1)
  const list = typeof last === 'number' ? formatPath(path.slice(0, -1)) : undefined
  const isItem = list !== undefined && (kind !== 'changed' || whole.lists.has(list))
  const words = isItem || whole.texts.has(formatPath(path)) ? undefined : changedWords(difference)
  if (words !== undefined)
    return words.map(({ at, value, isDuration }) => ({
      finding,
      place: JSON.stringify([formatPath(path), at]),
      value,
      isDuration,
      isWord: true as const,
    }))
  const sides = kind === 'removed' ? expected : actual
  return [
    {
      finding,
      place: JSON.stringify([isItem ? list : formatPath(path)]),
      value: JSON.stringify([kind, isItem && last, sides]),
      isDuration: isNearBy(expected, actual) && nameWords(String(last)).some(isDurationWord),
    },
  ]
}

/** Texts and lists whose parts are not looked at one by one. */
interface WholePlaces {
  readonly texts: ReadonlySet<string>
  readonly lists: ReadonlySet<string>
}

/** The paths of lists that have a random selection or order of items: three or more were seen. An index in them does not identify an item. */
function randomLists(runs: readonly ReplayStep[]): ReadonlySet<string> {
  const selections = new Map<string, Set<string>>()
  for (const { findings } of runs) {
    const changed = new Map<string, string[]>()
    for (const { difference } of findings) {
      if (difference === undefined) continue
      const { kind, path, expected, actual } = difference
      if (kind === 'order') changed.set(formatPath(path), [orderOf(expected, actual)])
      if (typeof path.at(-1) !== 'number' || (kind !== 'added' && kind !== 'removed')) continue
      const list = formatPath(path.slice(0, -1))
      changed.set(list, [...(changed.get(list) ?? []), JSON.stringify([kind, expected, actual])])
    }
    for (const [list, items] of changed)
      selections.set(list, (selections.get(list) ?? new Set<string>()).add(items.join('\n')))
  }
  return new Set([...selections].flatMap(([list, seen]) => (seen.size >= LEAST_RANDOM - 1 ? [list] : [])))
}

/** The indexes that equal items had on the tape. */
function orderOf(expected: unknown, actual: unknown): string {
  if (!Array.isArray(expected) || !Array.isArray(actual)) return ''
  const recorded = expected.map((item) => JSON.stringify(item))
  return actual.map((item) => recorded.indexOf(JSON.stringify(item))).join()
}

/** The paths of lists of texts or numbers that come and go, or that are at several indexes: the index does not identify an item. */
function listsWithoutOrder(runs: readonly ReplayStep[]): ReadonlySet<string> {
  const found = new Set<string>()
  const indexes = new Map<string, number>()
  for (const { findings } of runs)
    for (const { difference } of findings) {
      if (difference === undefined) continue
      const { kind, path, expected, actual } = difference
      if (kind === 'order') found.add(formatPath(path))
      const index = path.at(-1)
      if (typeof index !== 'number' || typeof (expected ?? actual) === 'object') continue
      const list = formatPath(path.slice(0, -1))
      if (kind === 'added' || kind === 'removed') found.add(list)
      for (const value of kind === 'changed' ? [expected, actual] : []) {
        const key = JSON.stringify([list, value])
        if ((indexes.get(key) ?? index) !== index) found.add(list)
        indexes.set(key, index)
      }
    }
  return found
}

/** Similar notifications come and go together, so all of them are one place. */
function streamPlace(finding: StepFinding): ChangedPlace {
  const { difference, path, expected, actual, isOneOfMany } = finding
  const message = difference?.expected ?? difference?.actual
  const place = isOneOfMany
    ? 'series'
    : JSON.stringify([member(message, 'method'), member(message, 'params')])
  const value = JSON.stringify([difference?.kind, isOneOfMany ? [path, actual ?? expected] : message])
  return { finding, place, value, isDuration: false, ...(isOneOfMany && { isCount: isOneOfMany }) }
}

/**
 * The paths of texts that cannot be compared word by word: they have too little in common with the recorded text in some run, or
 * three or more numbers of lines, like the end of a log.
 */
function textsWithoutTemplate(runs: readonly ReplayStep[]): ReadonlySet<string> {
  const whole = new Set<string>()
  const lineCounts = new Map<string, Set<number>>()
  for (const { difference } of runs.flatMap(({ findings }) => findings)) {
    if (difference === undefined) continue
    const { expected, actual } = difference
    const path = formatPath(difference.path)
    if (changedWords(difference) === undefined) whole.add(path)
    if (typeof expected !== 'string' || typeof actual !== 'string') continue
    const counts = lineCounts.get(path) ?? new Set()
    lineCounts.set(path, counts.add(lineCount(expected)).add(lineCount(actual)))
    if (counts.size >= LEAST_RANDOM) whole.add(path)
  }
  return whole
}

function lineCount(text: string): number {
  return text.split('\n').length
}

interface ChangedWord {
  /** Its position among the words of the recorded text. A negative one is that of the spaces before a word that has not changed. */
  readonly at: number
  readonly value: string
  readonly isDuration: boolean
}

/**
 * Finds the parts of two texts that differ between the words that both have. Spaces beside a changed word are part of it, because columns
 * are padded. Returns `undefined` if the texts do not seem to follow the same template.
 */
function changedWords({ expected, actual }: Difference): readonly ChangedWord[] | undefined {
  if (typeof expected !== 'string' || typeof actual !== 'string') return undefined
  const [ours, theirs] = [spacedWords(expected), spacedWords(actual)]
  if (ours.length < 2 || Math.max(ours.length, theirs.length) > MOST_WORDS) return undefined
  const [words, live] = [ours, theirs].map((spaced) => spaced.map(({ word }) => word))
  if (words === undefined || live === undefined) return undefined
  const common = longestCommonSubsequence(words, live)
  // The same words in another order move together.
  if (common.length < words.length && words.toSorted().join('\0') === live.toSorted().join('\0'))
    return undefined
  if (common.length * 2 < ours.length) return undefined
  const changed: (ChangedWord & { readonly line: number; readonly isFill: boolean })[] = []
  let [at, from, line] = [0, 0, 0]
  for (const pair of [...common, { expected: ours.length, actual: theirs.length }]) {
    const [old, value] = [textOf(ours.slice(at, pair.expected)), textOf(theirs.slice(from, pair.actual))]
    const [space, liveSpace] = [ours[pair.expected]?.space, theirs[pair.actual]?.space]
    if (old !== value) {
      const unit = words[pair.expected] ?? ''
      const isDuration = isNearBy(Number(old), Number(value)) && isDurationWord(unit.toLowerCase())
      changed.push({ at, value, line, isDuration, isFill: isFill(old, value) })
    } else if (space !== liveSpace)
      changed.push({ at: -1 - pair.expected, value: liveSpace ?? '', line, isDuration: false, isFill: false })
    if (old.includes('\n') || words[pair.expected] === '\n') line++
    ;[at, from] = [pair.expected + 1, pair.actual + 1]
  }
  // The width of a column, and the length of a bar, depend on the words that changed.
  const linesWithWords = new Set(changed.flatMap((one) => (one.at < 0 || one.isFill ? [] : one.line)))
  return changed.filter(({ at: place, line: ofLine, isFill: isBar }) => {
    if (isBar) return linesWithWords.size === 0
    return place >= 0 || !linesWithWords.has(ofLine) || isAtStart(words, -1 - place)
  })
}

/** Returns true if only the numbers of repeated symbols differ, and one of them is long: those of `==` and `...` say something. */
function isFill(old: string, value: string): boolean {
  return (
    withoutRepetitions(old) === withoutRepetitions(value) &&
    /^[^\p{L}\p{N}\s]*([^\p{L}\p{N}\s])\1{3}/u.test(`${old}${value}`)
  )
}

function withoutRepetitions(text: string): string {
  return text.replaceAll(/([^\p{L}\p{N}\s])\1*/gu, '$1')
}

function isAtStart(words: readonly string[], at: number): boolean {
  return at === 0 || words[at - 1] === '\n'
}

interface SpacedWord {
  readonly word: string
  /** The spaces before it. */
  readonly space: string
}

/** The words of a text. Repetitions of a symbol, and encoded data, are one word. Spaces at the end of the text are before an empty word. */
function spacedWords(text: string): readonly SpacedWord[] {
  const words: { word: string; readonly space: string }[] = []
  let space: string | undefined
  for (const token of text.split(ENCODED).flatMap((part, at) => (at % 2 === 1 ? part : proseTokens(part)))) {
    const last = words.at(-1)
    if (/^[^\S\n]/.test(token)) space = token
    else if (last !== undefined && space === undefined && isRepeated(last.word, token)) last.word += token
    else {
      words.push({ word: token, space: space ?? '' })
      space = undefined
    }
  }
  return space === undefined ? words : [...words, { word: '', space }]
}

/** Long base64, which differs in single symbols by chance, that of a data URL, and UUIDs. */
const ENCODED =
  /((?<=;base64,)[A-Za-z0-9+/]+={0,2}|(?<![\w+/])(?=\w*[+/])[A-Za-z0-9+/]{40,}={0,2}|\b[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}\b)/i

function isRepeated(word: string, token: string): boolean {
  return /^[^\p{L}\p{N}\s]$/u.test(token) && word.startsWith(token) && word === token.repeat(word.length)
}

function textOf(words: readonly SpacedWord[]): string {
  return words.map(({ word, space }, at) => (at === 0 ? word : space + word)).join('')
}

const MOST_WORDS = 5000

/** Returns true for numbers of which few are between them, so that they are equal by chance in several runs. */
function isNearBy(one: unknown, other: unknown): boolean {
  if (typeof one !== 'number' || typeof other !== 'number') return false
  const decimals = Math.max(...[one, other].map((number) => String(number).split('.')[1]?.length ?? 0))
  return Math.abs(one - other) * 10 ** decimals < FEWEST_BETWEEN
}

const FEWEST_BETWEEN = 5.5

function isDurationWord(word: string): boolean {
  return DURATION_WORDS.has(word.replace(/s$/, '')) || DURATION_WORDS.has(word)
}

const DURATION_WORDS: ReadonlySet<string> = new Set(
  'ms msec milli millisecond µ us microsecond ns nanosecond s sec second min minute h hour duration elapsed took latency uptime age'.split(
    ' ',
  ),
)
