import { ReelayError } from '../errors.ts'
import { canonicalJson } from '../json/canonical.ts'
import { decodeLeaf, forEachToken } from '../json/find-replace.ts'
import { isObject, parseJson } from '../json/parse.ts'
import { formatPath, parsePath, valuesAtPattern, type PathPattern } from '../json/path.ts'
import type { Direction, Id } from '../protocol/message.ts'
import type { OutcomeKind } from '../protocol/outcome.ts'
import { whyPatternIsSlow } from '../redact/slow-patterns.ts'
import { parseDuration, suggestName } from '../text.ts'

/** A parsed filter, such as `method:tools/call status:error duration:>500ms`. The grammar is in `docs/reference/filters.md`. */
export interface FilterExpression {
  /** The filter as the user wrote it. */
  readonly text: string
  /** True if the filter depends on the response, so that it cannot be decided before the response comes. */
  readonly needsResponse: boolean
  /** A part of the method or target without which neither a request nor its response can match, if there is one. */
  readonly neededName: string | undefined
  matches(subject: FilterSubject): boolean
}

/**
 * What a filter is applied to: one message, or an exchange with all of its messages. A field with several values matches if one
 * of them does. Everything that takes time to compute is read only if the filter asks for it.
 */
export interface FilterSubject {
  /** The number of the exchange, as in `#38`. */
  readonly exchange?: number | undefined
  /** The number of the frame on the tape. */
  readonly frame?: number | undefined
  readonly server?: string | undefined
  readonly conn?: number | undefined
  readonly id?: Id | null | undefined
  readonly kinds: readonly MessageKind[]
  readonly dirs: readonly Direction[]
  readonly methods: readonly string[]
  /** The tool, prompt or resource of the request. */
  readonly target?: string | undefined
  /** The outcome of the request, or `undefined` if the message belongs to no request. */
  readonly status?: OutcomeKind | undefined
  /** Milliseconds from the request to its response. */
  readonly durationMs?: number | undefined
  /** The JSON texts of the messages. */
  texts(): readonly string[]
  /** The params of the request or notification, or the result or error of the response. */
  value(root: FilterRoot): unknown
  /** Returns false if the value certainly has no member with this name, at any depth. It saves parsing the message. */
  mayHave?(root: FilterRoot, name: string): boolean
}

/** Whether the text of a message may have a member with this name. A name can be spelled with escapes. */
export function mayHaveMember(json: string, name: string): boolean {
  return json.includes(name) || json.includes(UNICODE_ESCAPE) || !PLAIN_MEMBER.test(name)
}

const UNICODE_ESCAPE = String.raw`\u`
const PLAIN_MEMBER = /^[\w -]+$/

export type MessageKind = 'request' | 'response' | 'notification'

/** The first name of a path in a condition. */
type FilterRoot = 'params' | 'result' | 'error'

/** Parses a filter. An empty one matches everything. */
export function parseFilter(text: string): FilterExpression {
  const node = new FilterParser(text).parse()
  return {
    text,
    needsResponse: node.readsResponse === true,
    neededName: node.neededName,
    matches: (subject) => node.test(subject),
  }
}

interface FilterNode {
  /** Higher for tests that read whole messages, so that `and` tries the others first. */
  readonly cost: number
  /** True if the test depends on the response. A text is searched in the messages that are known. */
  readonly readsResponse?: boolean
  readonly neededName?: string | undefined
  test(subject: FilterSubject): boolean
}

const FREE = 0
const READS_VALUES = 1
const READS_TEXT = 2

/** One word before a colon, and how its value is read. */
interface FieldKind {
  readonly name: string
  readonly aliases?: readonly string[]
  readonly example: string
  /** Returns `undefined` if the value is invalid. */
  parse(value: string): FilterNode | undefined
}

const STATUSES: Readonly<Record<string, readonly OutcomeKind[]>> = {
  ok: ['ok', 'input-required'],
  error: ['error', 'tool-error'],
  miss: ['miss'],
  pending: ['unanswered', 'cancelled', 'cut'],
  'tool-error': ['tool-error'],
  'input-required': ['input-required'],
  unanswered: ['unanswered'],
  cancelled: ['cancelled'],
  cut: ['cut'],
}

const DIRECTIONS: Readonly<Record<string, readonly Direction[]>> = { c2s: ['c2s'], s2c: ['s2c'] }

const KINDS: Readonly<Record<string, readonly MessageKind[]>> = {
  request: ['request'],
  response: ['response'],
  notification: ['notification'],
}

const FIELDS: readonly FieldKind[] = [
  {
    name: 'method',
    example: 'method:tools/call, or method:resources/*',
    parse: (value) =>
      needingName(
        namesNode(value, ({ methods }) => methods),
        value,
      ),
  },
  {
    name: 'tool',
    aliases: ['target'],
    example: 'tool:search, or tool:get_*,list_*',
    parse: (value) =>
      needingName(
        namesNode(value, ({ target }) => (target === undefined ? [] : [target])),
        value,
      ),
  },
  {
    name: 'server',
    example: 'server:github, or server:git*',
    parse: (value) => namesNode(value, ({ server }) => (server === undefined ? [] : [server])),
  },
  {
    name: 'status',
    example: `one of ${Object.keys(STATUSES).join(', ')}`,
    parse: (value) =>
      ofResponse(choiceNode(value, STATUSES, ({ status }) => (status === undefined ? [] : [status]))),
  },
  {
    name: 'dir',
    example: 'dir:c2s (from the client), or dir:s2c (from the server)',
    parse: (value) =>
      ofResponse(
        choiceNode(value, DIRECTIONS, ({ dirs }) => dirs),
        value.includes('s2c'),
      ),
  },
  {
    name: 'kind',
    example: 'kind:request, kind:response or kind:notification',
    parse: (value) =>
      ofResponse(
        choiceNode(value, KINDS, ({ kinds }) => kinds),
        value.includes('response'),
      ),
  },
  {
    name: 'duration',
    example: 'duration:>500ms, or duration:1s..2s',
    parse: (value) => ofResponse(amountNode(value, parseDuration, FREE, ({ durationMs }) => durationMs)),
  },
  {
    name: 'size',
    example: 'size:>10kb, or size:1kb..2mb',
    parse: (value) => ofResponse(amountNode(value, parseSize, READS_TEXT, sizeOf)),
  },
  { name: 'conn', example: 'conn:2', parse: (value) => numberNode(value, ({ conn }) => conn) },
  {
    name: 'frame',
    aliases: ['n'],
    example: 'frame:12',
    parse: (value) => numberNode(value, ({ frame }) => frame),
  },
  {
    name: 'id',
    example: 'id:5, or id:"5" for a string',
    parse: (value) => ({ cost: FREE, test: ({ id }) => id !== undefined && sameId(id, value) }),
  },
]

function ofResponse(node: FilterNode | undefined, readsResponse = true): FilterNode | undefined {
  return node && { ...node, readsResponse }
}

/** Names separated by commas, in which `*` matches any text. */
function namesNode(
  value: string,
  read: (subject: FilterSubject) => readonly string[],
): FilterNode | undefined {
  const patterns = value.split(',').map(namePattern)
  if (value.split(',').includes('')) return undefined
  return {
    cost: FREE,
    test: (subject) => read(subject).some((name) => patterns.some((pattern) => pattern.test(name))),
  }
}

/** Only a single name without wildcards is needed. Its longest plain part is spelled the same in every JSON text. */
function needingName(node: FilterNode | undefined, value: string): FilterNode | undefined {
  const parts = /[,*]/.test(value) ? [] : value.split(/[^A-Za-z0-9_-]+/)
  const [longest = ''] = parts.toSorted((a, b) => b.length - a.length)
  return node === undefined || longest === '' ? node : { ...node, neededName: longest }
}

function namePattern(name: string): RegExp {
  const parts = name.split('*').map((part) => part.replaceAll(/[.+?^${}()|[\]\\]/g, String.raw`\$&`))
  return new RegExp(`^${parts.join('.*')}$`, 'su')
}

function choiceNode<Value>(
  value: string,
  choices: Readonly<Record<string, readonly Value[]>>,
  read: (subject: FilterSubject) => readonly Value[],
): FilterNode | undefined {
  const words = value.split(',')
  if (words.some((word) => !Object.hasOwn(choices, word))) return undefined
  const wanted = new Set(words.flatMap((word) => choices[word] ?? []))
  return { cost: FREE, test: (subject) => read(subject).some((each) => wanted.has(each)) }
}

/** `>500ms`, `<=2s` or `1s..2s`. */
function amountNode(
  value: string,
  parse: (text: string) => number | undefined,
  cost: number,
  read: (subject: FilterSubject) => number | undefined,
): FilterNode | undefined {
  const [, operator = '', limit = ''] = /^(>=|<=|>|<)(.+)$/.exec(value) ?? []
  const ends = (operator === '' ? value.split('..') : [limit]).map(parse)
  const [first, second] = ends
  if (first === undefined || ends.includes(undefined) || ends.length !== (operator === '' ? 2 : 1))
    return undefined
  const isWithin =
    second === undefined
      ? (amount: number) => compareBy(operator, amount, first)
      : (amount: number) => amount >= first && amount <= second
  return {
    cost,
    test: (subject) => {
      const amount = read(subject)
      return amount !== undefined && isWithin(amount)
    },
  }
}

function parseSize(text: string): number | undefined {
  const [, count, unit = 'b'] = /^(\d{1,12}(?:\.\d+)?)(b|kb|mb|gb)?$/i.exec(text) ?? []
  return count === undefined
    ? undefined
    : Number(count) * 1024 ** ['b', 'kb', 'mb', 'gb'].indexOf(unit.toLowerCase())
}

function sizeOf(subject: FilterSubject): number {
  return subject.texts().reduce((sum, text) => sum + new TextEncoder().encode(text).length, 0)
}

function numberNode(
  value: string,
  read: (subject: FilterSubject) => number | undefined,
): FilterNode | undefined {
  const [, first, last = first] = /^(\d{1,15})(?:-(\d{1,15}))?$/.exec(value) ?? []
  if (first === undefined) return undefined
  return {
    cost: FREE,
    test: (subject) => {
      const number = read(subject)
      return number !== undefined && number >= Number(first) && number <= Number(last)
    },
  }
}

/** `5` matches the number and the string, `"5"` only the string. */
function sameId(id: Id | null, wanted: string): boolean {
  return wanted.startsWith('"') ? JSON.stringify(id) === wanted : String(id) === wanted
}

function compareBy(operator: string, value: number | string, limit: number | string): boolean {
  switch (operator) {
    case '>':
      return value > limit
    case '>=':
      return value >= limit
    case '<':
      return value < limit
    default:
      return value <= limit
  }
}

const ROOTS: readonly FilterRoot[] = ['params', 'result', 'error']
const PATH = /(params|result|error)((?:\.[^.[\]"*\s=<>!~()]+|\[(?:\d{1,15}|\*|"(?:[^"\\]|\\.)*")\])*)/y
const OPERATOR = /\s*(==|!=|>=|<=|=|>|<|~)\s*/y
const VALUE = /"(?:[^"\\]|\\.)*"|[^\s()]+/y
const QUOTED = /"(?:[^"\\]|\\.)*"/y
const PATTERN = /\/((?:[^/\\]|\\.)+)\/([a-z]*)(?=[\s)]|$)/y
const NUMBER = /#(\d{1,15}(?:-\d{1,15})?)(?=[\s)]|$)/y
const FIELD = /([A-Za-z][\w-]*):/y
const FIELD_VALUE = /(?:"(?:[^"\\]|\\.)*"|[^\s()"])+/y
const WORD = /[^\s()"]+/y
const SPACE = /\s*/y

/** A recursive descent parser. `a b` means both, `or` is weaker than that, and `-` or `not` applies to the next term. */
class FilterParser {
  readonly #text: string
  #at = 0
  #depth = 0

  constructor(text: string) {
    this.#text = text
  }

  parse(): FilterNode {
    const node = this.#either()
    if (this.#at < this.#text.length) throw this.#invalid('there is no "(" for this ")"', this.#at)
    return node
  }

  #either(): FilterNode {
    const choices = [this.#all()]
    while (this.#takeWord('or')) {
      const at = this.#at
      const next = this.#all()
      if (next === EVERYTHING || choices[0] === EVERYTHING)
        throw this.#invalid('"or" needs a term on both sides', Math.min(at, this.#text.length))
      choices.push(next)
    }
    const [only, ...others] = choices
    if (only !== undefined && others.length === 0) return only
    return { ...combined(choices), test: (subject) => choices.some((node) => node.test(subject)) }
  }

  #all(): FilterNode {
    const terms: FilterNode[] = []
    for (;;) {
      while (this.#takeWord('and'));
      this.#take(SPACE)
      if (this.#at >= this.#text.length || this.#text[this.#at] === ')' || this.#isWordNext('or')) break
      terms.push(this.#term())
    }
    const sorted = terms.toSorted((a, b) => a.cost - b.cost)
    const [only, ...others] = sorted
    if (only === undefined) return EVERYTHING
    if (others.length === 0) return only
    const neededName = sorted.find((node) => node.neededName !== undefined)?.neededName
    return {
      ...combined(sorted),
      neededName,
      test: (subject) => sorted.every((node) => node.test(subject)),
    }
  }

  #term(): FilterNode {
    const start = this.#at
    if (this.#takeWord('not') || this.#isMinus()) {
      this.#take(SPACE)
      if (this.#at >= this.#text.length || this.#text[this.#at] === ')')
        throw this.#invalid('a term must follow the negation', start)
      const node = this.#nested(() => this.#term())
      return { ...node, neededName: undefined, test: (subject) => !node.test(subject) }
    }
    if (this.#text[this.#at] === '(') return this.#group(start)
    return this.#number() ?? this.#condition() ?? this.#field() ?? this.#search()
  }

  #isMinus(): boolean {
    if (this.#text[this.#at] !== '-' || /^$|\s/.test(this.#text[this.#at + 1] ?? '')) return false
    this.#at++
    return true
  }

  #group(start: number): FilterNode {
    this.#at++
    const node = this.#nested(() => this.#either())
    if (this.#text[this.#at] !== ')') throw this.#invalid('there is no ")" for this "("', start)
    this.#at++
    return node
  }

  /** Limits the nesting, because a filter may come from a program. */
  #nested(parse: () => FilterNode): FilterNode {
    if (++this.#depth > MAX_DEPTH) throw this.#invalid(`it is nested deeper than ${MAX_DEPTH}`, this.#at)
    const node = parse()
    this.#depth--
    return node
  }

  /** `#38` or `#3-7`. */
  #number(): FilterNode | undefined {
    const number = this.#take(NUMBER)?.[1]
    return number === undefined ? undefined : numberNode(number, ({ exchange }) => exchange)
  }

  /** A path, alone or with an operator and a value. */
  #condition(): FilterNode | undefined {
    const start = this.#at
    const found = this.#take(PATH)
    if (found === null) return undefined
    const [, root = '', rest = ''] = found
    const operator = this.#take(OPERATOR)?.[1]
    const isPath = operator !== undefined || (rest !== '' && /^$|[\s)]/.test(this.#text[this.#at] ?? ''))
    if (!isPath) {
      this.#at = start
      return undefined
    }
    const path = { root: ROOTS.find((each) => each === root) ?? 'params', path: parsePathAfter(root, rest) }
    return operator === undefined ? presenceNode(path) : this.#comparison(path, operator)
  }

  #comparison(path: FilterPath, operator: string): FilterNode {
    const start = this.#at
    const pattern = operator === '~' ? this.#pattern() : undefined
    if (pattern !== undefined) return patternConditionNode(path, pattern)
    const text = this.#take(VALUE)?.[0]
    if (text === undefined)
      throw this.#invalid(`a value must follow ${formatFilterPath(path)} ${operator}`, start)
    const parsed = parseJson(text)
    const value = parsed === undefined ? text : parsed
    if (text.startsWith('"') && parsed === undefined)
      throw this.#invalid(`${text} is not a JSON string`, start)
    if (operator === '~') return containsConditionNode(path, textOf(value))
    if (operator === '=' || operator === '==') return equalNode(path, value)
    if (operator === '!=') return differentNode(path, value)
    if (typeof value !== 'number' && typeof value !== 'string')
      throw this.#invalid(`${operator} compares numbers or texts, not ${text}`, start)
    return orderNode(path, operator, value)
  }

  #field(): FilterNode | undefined {
    const start = this.#at
    const name = this.#take(FIELD)?.[1]
    if (name === undefined) return undefined
    if (name === 're') return patternNode(this.#pattern() ?? this.#missingPattern())
    const field = FIELDS.find((each) => each.name === name || each.aliases?.includes(name))
    if (field === undefined) {
      const known = [...FIELDS.map((each) => each.name), 're']
      throw this.#invalid(
        `there is no field "${name}"${suggestName(name, known)}`,
        start,
        `the fields are ${known.join(', ')}; put a text with a colon in quotes to search for it`,
      )
    }
    const valueAt = this.#at
    const value = this.#take(FIELD_VALUE)?.[0] ?? ''
    const node = value === '' ? undefined : field.parse(field.name === 'id' ? value : unquoted(value))
    if (node !== undefined) return node
    const why = value === '' ? `${name}: needs a value` : `${name}: cannot be ${value}`
    throw this.#invalid(why, valueAt, `write it like ${field.example}`)
  }

  #missingPattern(): never {
    throw this.#invalid(
      're: needs a regular expression between slashes',
      this.#at,
      'write it like re:/sess-[0-9]+/i',
    )
  }

  #pattern(): RegExp | undefined {
    const start = this.#at
    const [, source, flags = ''] = this.#take(PATTERN) ?? []
    if (source === undefined) return undefined
    const pattern = this.#compile(source, flags, start)
    const slow = whyPatternIsSlow(pattern)
    if (slow !== undefined) throw this.#invalid(`this pattern can take very long: ${slow}`, start)
    return pattern
  }

  #compile(source: string, flags: string, at: number): RegExp {
    if (/[^ims]/.test(flags))
      throw this.#invalid(`a pattern can have the flags i, m and s, not "${flags}"`, at)
    try {
      return new RegExp(source, `${flags}u`)
    } catch (cause) {
      throw this.#invalid('this is not a valid regular expression', at, undefined, cause)
    }
  }

  /** A word or a quoted text, which is searched in the messages. */
  #search(): FilterNode {
    const start = this.#at
    const quoted = this.#take(QUOTED)?.[0]
    const text = quoted === undefined ? this.#take(WORD)?.[0] : parseJson(quoted)
    if (typeof text === 'string') return searchNode(text)
    const why = quoted === undefined ? 'this quote is not closed' : `${quoted} is not a JSON string`
    throw this.#invalid(why, start)
  }

  #isWordNext(word: string): boolean {
    const rest = this.#text.slice(this.#at, this.#at + word.length + 1)
    return rest.startsWith(word) && /^(?:$|[\s(])/.test(rest.slice(word.length))
  }

  #takeWord(word: string): boolean {
    this.#take(SPACE)
    if (!this.#isWordNext(word)) return false
    this.#at += word.length
    return true
  }

  #take(pattern: RegExp): RegExpExecArray | null {
    pattern.lastIndex = this.#at
    const found = pattern.exec(this.#text)
    if (found !== null) this.#at += found[0].length
    return found
  }

  #invalid(why: string, at: number, hint?: string, cause?: unknown): ReelayError {
    const message = `cannot read the filter ${JSON.stringify(this.#text)}: ${why}, at position ${at + 1}`
    return new ReelayError('FILTER_INVALID', message, { hint: hint ?? FILTER_HINT, cause })
  }
}

const MAX_DEPTH = 50
const FILTER_HINT =
  "write it like 'method:tools/call tool:search status:error', 'duration:>500ms', 'result.total > 100' or '#38'; docs/reference/filters.md has all terms"

const EVERYTHING: FilterNode = { cost: FREE, test: () => true }

function combined(nodes: readonly FilterNode[]): Omit<FilterNode, 'test'> {
  return {
    cost: Math.max(...nodes.map(({ cost }) => cost)),
    readsResponse: nodes.some(({ readsResponse }) => readsResponse === true),
  }
}

/** The value of a field. Its parts in quotes are JSON strings. */
function unquoted(value: string): string {
  return value.replaceAll(/"(?:[^"\\]|\\.)*"/g, (part) => textOf(parseJson(part) ?? part))
}

/** A path from the params, the result or the error. */
interface FilterPath {
  readonly root: FilterRoot
  readonly path: PathPattern
}

function parsePathAfter(root: string, rest: string): PathPattern {
  return parsePath(root + rest).slice(1)
}

function formatFilterPath({ root, path }: FilterPath): string {
  return formatPath([root, ...path])
}

function conditionNode(
  { root, path }: FilterPath,
  test: (values: readonly unknown[]) => boolean,
): FilterNode {
  const names = path.filter((segment) => typeof segment === 'string')
  return {
    cost: READS_VALUES,
    readsResponse: root !== 'params',
    test: (subject) => {
      if (names.some((name) => subject.mayHave?.(root, name) === false)) return false
      const value = subject.value(root)
      return value !== undefined && test(valuesAtPattern(value, path))
    },
  }
}

/** A value that is neither `null` nor `false`. */
function presenceNode(path: FilterPath): FilterNode {
  return conditionNode(path, (values) => values.some((value) => value !== null && value !== false))
}

function equalNode(path: FilterPath, wanted: unknown): FilterNode {
  return conditionNode(path, (values) => values.some((value) => isEqual(value, wanted)))
}

/** There are values, and none of them is equal. */
function differentNode(path: FilterPath, wanted: unknown): FilterNode {
  return conditionNode(path, (values) => values.length > 0 && !values.some((value) => isEqual(value, wanted)))
}

function isEqual(value: unknown, wanted: unknown): boolean {
  return (
    value === wanted ||
    (isObject(value) || Array.isArray(value) ? canonicalJson(value) === canonicalJson(wanted) : false)
  )
}

/** Numbers are compared with numbers, and texts with texts, so that dates in ISO form can be compared. */
function orderNode(path: FilterPath, operator: string, limit: number | string): FilterNode {
  return conditionNode(path, (values) =>
    values.some(
      (value) =>
        (typeof value === 'number' || typeof value === 'string') &&
        typeof value === typeof limit &&
        compareBy(operator, value, limit),
    ),
  )
}

function containsConditionNode(path: FilterPath, part: string): FilterNode {
  const wanted = part.toLowerCase()
  return conditionNode(path, (values) => values.some((value) => textOf(value).toLowerCase().includes(wanted)))
}

function patternConditionNode(path: FilterPath, pattern: RegExp): FilterNode {
  return conditionNode(path, (values) =>
    values.some((value) => pattern.test(textOf(value).slice(0, MAX_PATTERN_TEXT))),
  )
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : (JSON.stringify(value) ?? '')
}

/** A pattern is applied to the beginning of a text, because some patterns take quadratic time. */
const MAX_PATTERN_TEXT = 64 * 1024

function patternNode(pattern: RegExp): FilterNode {
  return {
    cost: READS_TEXT,
    test: (subject) => subject.texts().some((text) => pattern.test(text.slice(0, MAX_PATTERN_TEXT))),
  }
}

/** Finds a text in any case, as it is spelled in the JSON or as the JSON decodes to. */
function searchNode(text: string): FilterNode {
  const wanted = text.toLowerCase()
  return {
    cost: READS_TEXT,
    test: (subject) =>
      subject.methods.some((method) => method.toLowerCase().includes(wanted)) ||
      subject.texts().some((json) => json.toLowerCase().includes(wanted) || isInStrings(json, wanted)),
  }
}

function isInStrings(json: string, wanted: string): boolean {
  if (!json.includes('\\') || parseJson(json) === undefined) return false
  let isFound = false
  forEachToken(json, (token) => {
    isFound ||= decodeLeaf(json, token).toLowerCase().includes(wanted)
  })
  return isFound
}
