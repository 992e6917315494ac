import {
  forEachToken,
  type JsonToken,
  decodeLeaf,
  sortByStart,
  type TextReplacement,
} from '../json/find-replace.ts'
import { findAssignedSecrets, isSecretValue, withoutScheme } from './assignments.ts'
import { normalizeName, judgeName, type NameVerdict, judgeFlag } from './secret-names.ts'
import { KUBERNETES_SECRET } from './rules/command-lines.ts'
import { PrivateKeyLines } from './rules/private-key.ts'
import type { RedactionRule } from './rules/rule.ts'
import type { SecretValues } from './secret-values.ts'
import type { WorkLimit } from './work-limit.ts'
import {
  base64Views,
  hexViews,
  htmlDecodedView,
  packedViews,
  percentDecodedView,
  jsonUnescapedView,
  withoutColorsView,
  type DecodedView,
} from './views.ts'

/** Levels of nested encodings, such as base64 of JSON in a string of JSON in a string. */
const MAX_ENCODING_DEPTH = 4
/** Searching even the shortest text takes as long as so many characters of a long one. */
const WORK_PER_TEXT = 400

/** Finds the secrets of a text, in any encoding, and their replacements. */
export class SecretScanner {
  readonly #secrets: SecretValues
  readonly #work: WorkLimit
  readonly #fields: ReadonlySet<string>
  /** Number of placeholders and allowed values that were found where a secret could be. */
  #exemptCount = 0

  constructor(secrets: SecretValues, work: WorkLimit) {
    this.#secrets = secrets
    this.#work = work
    this.#fields = new Set(secrets.rules.fields.map(normalizeName))
  }

  findInText(text: string, depth = 0): readonly TextReplacement[] {
    this.#work.spend(text.length + WORK_PER_TEXT)
    if (isJson(text)) return this.findInJson(text, depth + 1)
    const cover = (start: number, end: number): string => this.#secrets.placeholderFor(text.slice(start, end))
    const plain = mergeOverlapping(
      [this.#findInEmbeddedJson(text, depth + 1), this.#findPlain(text)].flat(),
      cover,
    )
    if (depth >= MAX_ENCODING_DEPTH) return plain
    const decoded = this.#findInDecoded(text, depth + 1)
    return withoutLaterOverlaps([
      withoutCovered(plain, decoded).filter(({ end }) => !isPercentCodeAt(text, end)),
      decoded,
      this.#findInRuns(text, depth + 1),
    ])
  }

  /** Uses the names of members to judge their values, and never changes protocol fields. */
  findInJson(text: string, depth = 0): readonly TextReplacement[] {
    const edits: TextReplacement[] = []
    const pairs = new ValueNames()
    const keyLines = text.includes('PRIVATE KEY') ? new PrivateKeyLines() : undefined
    const isKubernetes = text.includes('"Secret"') && KUBERNETES_SECRET.test(text)
    const isJwk = text.includes('"kty"')
    forEachToken(text, (token) => {
      if (token.kind === 'literal') return
      const isSecretMember =
        (isKubernetes && isSecretData(token)) || (isJwk && isPrivatePartOfJwk(text, token))
      const name = isSecretMember ? 'password' : pairs.nameOf(text, token)
      if (keyLines !== undefined && token.kind === 'string' && isKeyToken(text, token, keyLines))
        edits.push(this.#replaceWhole(text, token))
      else if (!isProtocolField(token.path))
        for (const edit of this.#findInToken(text, token, { name, depth })) edits.push(edit)
    })
    return edits
  }

  /** Replaces a whole string: one line of a private key in a list of lines. */
  #replaceWhole(text: string, { start, end }: JsonToken): TextReplacement {
    const value = decodeLeaf(text, { start, end })
    return { start, end, text: JSON.stringify(value === '' ? '' : this.#secrets.placeholderFor(value)) }
  }

  findInNamed(name: string, value: string, depth = 0): readonly TextReplacement[] {
    return this.#editsForVerdict(this.#verdictOn(name), value, depth)
  }

  readonly #isProjectField = (name: string): boolean =>
    this.#fields.size > 0 && this.#fields.has(normalizeName(name))

  #findInToken(text: string, token: JsonToken, { name, depth }: TokenContext): readonly TextReplacement[] {
    const { kind, start, end, path } = token
    if (kind === 'number') return this.#findInNumber(text, token, name)
    const raw = text.slice(start + 1, end - 1)
    const verdict = kind === 'key' || isInSchema(path) ? 'no' : this.#verdictOn(name)
    if (verdict === 'no' && !this.#secrets.mayOccurIn(raw)) return []
    const view = jsonUnescapedView(raw)
    const edits = this.#editsForVerdict(verdict, view?.text ?? raw, depth)
    return shiftEdits(view === undefined ? edits.map(escapedEdit) : view.toSourceEdits(edits), start + 1)
  }

  #findInNumber(text: string, { start, end, path }: JsonToken, name: string): readonly TextReplacement[] {
    const value = text.slice(start, end)
    const isNamed = !isInSchema(path) && this.#verdictOn(name) === 'secret'
    if (!isNamed && !this.#secrets.isKnown(value)) return []
    return this.#secrets.isExempt(value) ? [] : [{ start, end, text: this.#secrets.placeholderFor(value) }]
  }

  #verdictOn(name: string): NameVerdict {
    return this.#isProjectField(name) ? 'secret' : judgeName(name)
  }

  #editsForVerdict(verdict: NameVerdict, value: string, depth: number): readonly TextReplacement[] {
    const before = this.#exemptCount
    const inside = this.findInText(value, depth)
    const hasSecretPart = inside.length > 0 || this.#exemptCount > before
    if (verdict === 'no' || isJson(value) || (hasSecretPart && CONNECTION_STRING.test(value))) return inside
    const secret = withoutScheme(value)
    if (!isSecretValue(verdict, secret) || this.#secrets.isExempt(secret)) return inside
    this.#secrets.learn(secret)
    return [
      { start: value.length - secret.length, end: value.length, text: this.#secrets.placeholderFor(secret) },
    ]
  }

  /** Finds JSON within a text, as in `Result: {…}`. */
  #findInEmbeddedJson(text: string, depth: number): readonly TextReplacement[] {
    const start = text.indexOf('{')
    const stretch =
      start < 0 || depth > MAX_ENCODING_DEPTH ? '' : text.slice(start, text.lastIndexOf('}') + 1)
    return isJson(stretch) ? shiftEdits(this.findInJson(stretch, depth), start) : []
  }

  #findPlain(text: string): readonly TextReplacement[] {
    const found = [
      this.#secrets.known.find(text, this.#work),
      ...this.#secrets.rulesFor(text).map((rule) => this.#findByRule(rule, text)),
      this.#findAssigned(text),
    ]
      .flat()
      .map((range) => withoutQuoteAtEnd(text, range))
    const exempt = found.flatMap((range) => this.#exemptRange(text, range) ?? [])
    this.#exemptCount += exempt.length
    return withoutCovered(found, exempt) // a part of a placeholder may look like a secret
      .map(({ start, end }) => ({ start, end, text: this.#secrets.placeholderFor(text.slice(start, end)) }))
  }

  /** The allowed value or the placeholder that a range belongs to. A placeholder can contain what looks like the start of a token. */
  #exemptRange(text: string, range: Range): Range | undefined {
    if (this.#secrets.isExempt(text.slice(range.start, range.end))) return range
    if (!this.#secrets.canHavePlaceholders) return undefined
    this.#work.spend(WORK_PER_TEXT)
    for (const { start, end } of placeholderRanges(text, range))
      if (this.#secrets.isPlaceholder(text.slice(start, end)))
        return { start: Math.min(start, range.start), end: Math.max(end, range.end) }
    const decoded = percentDecodedWord(text, range)
    return decoded !== undefined && this.#exemptRange(decoded.text, decoded.range) !== undefined
      ? range
      : undefined
  }

  #findByRule(rule: RedactionRule, text: string): readonly Range[] {
    const found: Range[] = []
    for (const match of text.matchAll(withIndices(rule.pattern))) {
      const [start, end] = match.indices?.groups?.['secret'] ?? match.indices?.[0] ?? [0, 0]
      if (end <= start || rule.isSecret?.(text.slice(start, end)) === false) continue
      found.push({ start, end })
      if (rule.isLearned === true) this.#secrets.learn(text.slice(start, end))
    }
    return found
  }

  #findAssigned(text: string): readonly Range[] {
    const found = findAssignedSecrets(text, this.#isProjectField)
    for (const { start, end } of found) this.#secrets.learn(text.slice(start, end))
    return found
  }

  /** Searches the text with its escapes resolved. */
  #findInDecoded(text: string, depth: number): readonly TextReplacement[] {
    if (!['%', '\\', '&', '\u001b'].some((sign) => text.includes(sign))) return []
    this.#work.spend(2 * text.length)
    const views = [
      jsonUnescapedView(text),
      percentDecodedView(text),
      htmlDecodedView(text),
      withoutColorsView(text),
    ]
    return this.#findInViews(views, depth)
  }

  /** Searches the parts of the text that are base64 or hex. */
  #findInRuns(text: string, depth: number): readonly TextReplacement[] {
    const packed = [...packedViews(text, this.#work)]
    const known = new Set(packed.flatMap(({ isWholeRunAt }) => isWholeRunAt ?? []))
    const base64 = base64Views(text, (bytes) => this.#secrets.mayOccurInBytes(bytes), known)
    const edits = this.#findInViews([...packed, ...hexViews(text), ...base64], depth)
    // The characters of a placeholder can happen to be base64 of something.
    return edits.filter((edit) => this.#exemptRange(text, edit) === undefined)
  }

  #findInViews(views: readonly (DecodedView | undefined)[], depth: number): readonly TextReplacement[] {
    const found = views.map((view) =>
      view !== undefined && this.#secrets.mayOccurIn(view.text)
        ? view.toSourceEdits(this.findInText(view.text, depth))
        : [],
    )
    return withoutLaterOverlaps(found)
  }
}

/** A value in HTML can end at an entity that stands for a quote or a bracket. The entity is not part of the value. */
function withoutQuoteAtEnd(text: string, { start, end }: Range): Range {
  const last = text.lastIndexOf('&', end - 1)
  if (last <= start || end - last > LONGEST_QUOTE_ENTITY) return { start, end }
  return QUOTE_ENTITY.test(text.slice(last, end + 1)) ? { start, end: last } : { start, end }
}

const QUOTE_ENTITY = /^&(?:quot|apos|lt|gt|#0{0,4}(?:34|39|60|62)|#[xX]0{0,4}(?:2[27]|3[ceCE]));/
const LONGEST_QUOTE_ENTITY = 10

/** Where a placeholder could be that a range is a part of, or that the range continues with a sign: each begins and ends at a sign. */
function* placeholderRanges(text: string, { start, end }: Range): Generator<Range> {
  let [first, last] = [start, end]
  while (first > 0 && start - first < MAX_WORD_PART && IN_WORD.test(text[first - 1]!)) first--
  while (last < text.length && last - end < MAX_WORD_PART && IN_WORD.test(text[last]!)) last++
  const escape = ESCAPE.exec(text.slice(Math.max(0, first - 1), first + LONGEST_ESCAPE))
  if (first > 0 && escape !== null) first += escape[0].length - 1
  const starts = [first, ...signsIn(text, first, start).map((at) => at + 1)]
  const ends = [end, last, ...shorterEnds(start, end), ...signsIn(text, Math.max(start, end - 3), last)]
  for (const from of new Set([...starts.slice(-MAX_SIGNS), start]))
    for (const to of new Set(ends.slice(0, MAX_SIGNS + MOST_MORE))) yield { start: from, end: to }
}

/** The word around a range, and the range in it, with percent codes resolved. Returns `undefined` if there are none. */
function percentDecodedWord(
  text: string,
  { start, end }: Range,
): { readonly text: string; readonly range: Range } | undefined {
  let [first, last] = [start, end]
  while (first > 0 && start - first < MAX_WORD_PART && IN_ENCODED_WORD.test(text[first - 1]!)) first--
  while (last < text.length && last - end < MAX_WORD_PART && IN_ENCODED_WORD.test(text[last]!)) last++
  if (!text.slice(first, last).includes('%')) return undefined
  const [before = '', inside = '', after = ''] = [
    text.slice(first, start),
    text.slice(start, end),
    text.slice(end, last),
  ].map((part) => percentDecodedView(part)?.text ?? part)
  const decoded = before + inside + after
  if (decoded.length === last - first) return undefined
  return { text: decoded, range: { start: before.length, end: before.length + inside.length } }
}

/** A pattern can take a few more characters for a part of a token: those of the next line of base64, for example. */
function shorterEnds(start: number, end: number): readonly number[] {
  return end - start < SHORTEST_WITH_MORE ? [] : Array.from({ length: MOST_MORE }, (_, at) => end - 1 - at)
}

const MOST_MORE = 6
const SHORTEST_WITH_MORE = 20

/** Offsets of the characters that are neither letters nor digits. */
function signsIn(text: string, from: number, to: number): readonly number[] {
  return [...text.slice(from, to).matchAll(/[^A-Za-z0-9]/g)].map(({ index }) => from + index)
}

const IN_WORD = /[\w+/.=$-]/
const IN_ENCODED_WORD = /[\w+/.=$%-]/
const MAX_WORD_PART = 300
/** A longer list of signs is not one word with a placeholder. */
const MAX_SIGNS = 12
/** Of an escape before a word, the letters and digits look like a part of the word. */
const ESCAPE = /^(?:\\(?:[bfnrt]|u[0-9A-Fa-f]{4})|%(?:25){0,3}[0-9A-Fa-f]{2}|[[;]\d{1,3}m)/
const LONGEST_ESCAPE = 9

/** A match that ends here is only the beginning of a value. With its escapes resolved, the text shows the whole value. */
function isPercentCodeAt(text: string, at: number): boolean {
  return text[at] === '%' && /^[0-7][0-9A-Fa-f]/.test(text.slice(at + 1, at + 3))
}

/** Returns true for the values of a Kubernetes Secret. */
function isSecretData({ kind, path }: JsonToken): boolean {
  const parent = path.at(-2)
  return kind === 'string' && (parent === 'data' || parent === 'stringData')
}

/** Returns true for the private numbers of a JSON Web Key. */
function isPrivatePartOfJwk(text: string, { kind, start, end, path }: JsonToken): boolean {
  const name = path.at(-1)
  if (kind !== 'string' || typeof name !== 'string' || !/^(?:[dpqk]|d[pq]|qi)$/.test(name)) return false
  return /^[\w-]{20,}$/.test(text.slice(start + 1, end - 1))
}

function isKeyToken(text: string, token: JsonToken, lines: PrivateKeyLines): boolean {
  return lines.isKeyLine(decodeLeaf(text, token))
}

interface TokenContext {
  readonly name: string
  readonly depth: number
}

type Range = Pick<TextReplacement, 'start' | 'end'>

/** A value of which only a part is secret. */
const CONNECTION_STRING = /:\/\/|^[\w ]+=[^;]*;/

function shiftEdits(edits: readonly TextReplacement[], by: number): readonly TextReplacement[] {
  return edits.map(({ start, end, text }) => ({ start: start + by, end: end + by, text }))
}

function escapedEdit({ start, end, text }: TextReplacement): TextReplacement {
  return { start, end, text: JSON.stringify(text).slice(1, -1) }
}

/**
 * Removes overlaps. An edit inside of another one is dropped. Two edits that overlap in part become one that covers both, so that
 * no end of a secret remains.
 */
function mergeOverlapping(
  edits: readonly TextReplacement[],
  cover: (start: number, end: number) => string,
): readonly TextReplacement[] {
  const result: (Range & { readonly text: string | undefined })[] = []
  for (const edit of sortByStart(edits)) {
    const last = result.at(-1)
    if (last === undefined || edit.start >= last.end) result.push(edit)
    else if (edit.end > last.end)
      result[result.length - 1] = { start: last.start, end: edit.end, text: undefined }
  }
  // Covered only now: many edits may overlap one after the other, and each cover costs as much as it is long.
  return result.map(({ start, end, text }) => ({ start, end, text: text ?? cover(start, end) }))
}

/** Joins lists of edits. An edit that overlaps one of an earlier list is left out. */
function withoutLaterOverlaps(lists: readonly (readonly TextReplacement[])[]): readonly TextReplacement[] {
  const filled = lists.filter((list) => list.length > 0)
  if (filled.length < 2) return filled[0] ?? []
  const last = filled.flat().reduce((most, { end }) => Math.max(most, end), 0)
  const isTaken = new Uint8Array(last) // one byte per character, because comparing each edit with each other is quadratic
  return filled.flatMap((list) => {
    const free = list.filter(({ start, end }) => !isTaken.subarray(start, end).includes(1))
    for (const { start, end } of free) isTaken.fill(1, start, end)
    return free
  })
}

/** The ranges that are not within any of the others. */
function withoutCovered<Item extends Range>(
  ranges: readonly Item[],
  others: readonly Range[],
): readonly Item[] {
  if (others.length === 0) return ranges
  const sorted = others.toSorted((a, b) => a.start - b.start)
  let last = 0
  const ends = sorted.map(({ end }) => (last = Math.max(last, end))) // the furthest end up to each start
  return ranges.filter(({ start, end }) => {
    const before = countUpTo(sorted, start)
    return before === 0 || ends[before - 1]! < end
  })
}

/** Number of ranges that start at or before an offset. The ranges are sorted. */
function countUpTo(sorted: readonly Range[], offset: number): number {
  let [low, high] = [0, sorted.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if (sorted[middle]!.start <= offset) low = middle + 1
    else high = middle
  }
  return low
}

function isJson(text: string): boolean {
  const first = text.trimStart()[0]
  if (first !== '{' && first !== '[') return false
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

const patternsWithIndices = new WeakMap<RegExp, RegExp>()

function withIndices(pattern: RegExp): RegExp {
  const known = patternsWithIndices.get(pattern)
  if (known !== undefined) return known
  const flags = [...new Set(`${pattern.flags}dg`)].join('')
  const made = new RegExp(pattern.source, flags)
  patternsWithIndices.set(pattern, made)
  return made
}

/**
 * Finds the name of each value. In `{"name":"token","value":"x"}` another member holds the name, in `{"token":{"value":"x"}}` it
 * is the name of the parent, and in `["--token", "x"]` and `["token", "x"]` the item before.
 */
class ValueNames {
  #name = ''
  #depth = 0
  #item: string | number | undefined
  #option = ''
  #optionAt = 0
  #optionDepth = 0

  nameOf(text: string, { kind, start, end, path }: JsonToken): string {
    const member = path.at(-1)
    const isHere = path.length === this.#depth && path.at(-2) === this.#item
    const isValue = typeof member === 'string' && VALUE_MEMBER.test(member)
    if (isValue && isHere && kind !== 'key') return this.#name
    if (kind === 'string' && typeof member === 'string' && NAME_MEMBER.test(member)) {
      this.#name = text.slice(start + 1, end - 1)
      this.#depth = path.length
      this.#item = path.at(-2)
    }
    const owner = path.at(-2)
    if (member === 'value' && kind !== 'key' && typeof owner === 'string') return owner
    if (kind === 'string' && typeof member === 'number')
      return this.#itemName(text.slice(start + 1, end - 1), path)
    return nearestName(path)
  }

  #itemName(word: string, path: JsonToken['path']): string {
    const place = Number(path.at(-1))
    const isNext = path.length === this.#optionDepth && place === this.#optionAt + 1
    const option = isNext && !word.startsWith('-') ? this.#option : ''
    this.#option = OPTION.test(word) ? word : ''
    this.#optionAt = place
    this.#optionDepth = path.length
    if (option === '' || ['no', 'generated'].includes(judgeFlag(option))) return nearestName(path)
    return option.startsWith('-') ? memberNameOf(option) : 'token' // an item after a word may be another word
  }
}

/** An option, or the first item of a pair. */
const OPTION = /^-{0,2}[A-Za-z][\w-]{1,40}$/
const NAME_MEMBER = /^(?:name|key|k|id|variable|field|header|param|parameter)$/i
const VALUE_MEMBER = /^(?:value|val|v)$/i

/** The name of a member with the same meaning as an option. */
function memberNameOf(option: string): string {
  return judgeFlag(option) === 'secret' ? 'password' : option
}

/** The name of the nearest member: items of a list have the name of the list. */
function nearestName(path: JsonToken['path']): string {
  const last = Math.max(0, path.length - MAX_LIST_DEPTH)
  for (let at = path.length - 1; at >= last; at--) if (typeof path[at] === 'string') return String(path[at])
  return ''
}

/** Limits the work for deeply nested lists, which only an attacker sends. */
const MAX_LIST_DEPTH = 64

type TokenPath = readonly (string | number)[]

/** Returns true for values that the protocol depends on. They are never replaced. */
function isProtocolField(path: TokenPath): boolean {
  const inBatch = typeof path[0] === 'number' ? 1 : 0 // the index of the message
  const [first, second, third, fourth] = inBatch ? path.slice(1, 5) : path
  switch (path.length - inBatch) {
    case 1:
      return first === 'jsonrpc' || first === 'id' || first === 'method'
    case 2:
      return (first === 'params' || first === 'result') && PROTOCOL_FIELDS.has(second!)
    case 3:
      return (second === '_meta' && third === 'progressToken') || (second === 'ref' && third === 'name')
    case 4:
      return first === 'result' && PROTOCOL_LISTS.has(second!) && LISTED_FIELDS.has(fourth!)
    default:
      return false
  }
}

const PROTOCOL_FIELDS = new Set<string | number>([
  'name',
  'protocolVersion',
  'progressToken',
  'requestId',
  'resultType',
])
const PROTOCOL_LISTS = new Set<string | number>(['tools', 'prompts', 'resourceTemplates'])
const LISTED_FIELDS = new Set<string | number>(['name', 'uriTemplate'])

/** A JSON Schema describes values but contains none, so its property names do not suggest secrets. */
function isInSchema(path: TokenPath): boolean {
  const end = Math.min(path.length, MAX_SCHEMA_DEPTH)
  for (let at = 0; at < end; at++) if (SCHEMAS.has(path[at]!)) return true
  return false
}

const SCHEMAS = new Set<string | number>(['inputSchema', 'outputSchema', 'requestedSchema'])
/** Limits the work, because a path can be as long as a message. */
const MAX_SCHEMA_DEPTH = 64
