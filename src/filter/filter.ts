import { ReelayError } from '../errors.ts'
import { canonicalJson } from '../json/canonical.ts'
import { decodeLeaf, forEachToken } from '../json/find-replace.ts'
import { isObject, parseJson } from '../json/parse.ts'
import { formatPath, parsePath, valuesAtPattern, type PathPattern } from '../json/path.ts'
import type { Direction, Id } from '../protocol/message.ts'
import type { OutcomeKind } from '../protocol/outcome.ts'
import { whyPatternIsSlow } from '../redact/slow-patterns.ts'
import { parseDuration, suggestName } from '../text.ts'
import { plainPartOf, type FilterGlance, type NumberRange } from './glance.ts'

/** A parsed filter, such as `method:tools/call status:error duration:>500ms`. The grammar is in `docs/reference/filters.md`. */
export interface FilterExpression {
  /** The filter as the user wrote it. */
  readonly text: string
  /** True if the filter depends on the response, so that it cannot be decided before the response comes. */
  readonly needsResponse: boolean
  /** Plain texts in lower case. An exchange can match only if its JSON contains each of them, in any case or spelled with escapes. */
  readonly neededTexts: readonly string[]
  matches(subject: FilterSubject): boolean
  /** Returns false if messages certainly do not match, of which only this is known. */
  mayMatch(glance: FilterGlance): boolean
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
  return json.includes(name) || json.includes(UNICODE_ESCAPE) || !isPlainMember(name)
}

function isPlainMember(name: string): boolean {
  return PLAIN_MEMBER.test(name)
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
    neededTexts: node.neededTexts ?? [],
    matches: (subject) => node.test(subject),
    mayMatch: (glance) => mayMatch(node, glance),
  }
}

interface FilterNode {
  /** Higher for tests that read whole messages, so that `and` tries the others first. */
  readonly cost: number
  /** True if the test depends on the response. A text is searched in the messages that are known. */
  readonly readsResponse?: boolean
  readonly neededTexts?: readonly string[]
  test(subject: FilterSubject): boolean
  /** Returns false if messages certainly do not match. Without it, they may. */
  may?(glance: FilterGlance): boolean
  /** Returns false if messages certainly do not match the opposite. Without it, they may. */
  mayNot?(glance: FilterGlance): boolean
}

function mayMatch(node: FilterNode, glance: FilterGlance): boolean {
  return node.may?.(glance) ?? true
}

function mayNotMatch(node: FilterNode, glance: FilterGlance): boolean {
  return node.mayNot?.(glance) ?? true
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
  error: ['error', 'tool-error', 'http-error', 'lost'],
  miss: ['miss'],
  pending: ['unanswered', 'cancelled', 'cut'],
  'tool-error': ['tool-error'],
  'http-error': ['http-error'],
  lost: ['lost'],
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
      namesNode(value, {
        read: ({ methods }) => methods,
        known: ({ method }) => method,
        isPossible: ({ names }, parts) =>
          names === undefined || parts.every((part) => names?.mayContain(part)),
      }),
  },
  {
    name: 'tool',
    aliases: ['target'],
    example: 'tool:search, or tool:get_*,list_*',
    parse: (value) =>
      namesNode(value, {
        read: ({ target }) => (target === undefined ? [] : [target]),
        known: ({ target }) => target,
        isPossible: ({ names }, parts) =>
          names === undefined || parts.every((part) => names?.mayContain(part)),
      }),
  },
  {
    name: 'server',
    example: 'server:github, or server:git*',
    parse: (value) =>
      // The name of a server is in no message.
      withoutTexts(
        namesNode(value, {
          read: ({ server }) => (server === undefined ? [] : [server]),
          known: ({ server }) => server,
        }),
      ),
  },
  {
    name: 'status',
    example: `one of ${Object.keys(STATUSES).join(', ')}`,
    parse: (value) =>
      ofResponse(
        choiceNode(value, STATUSES, {
          read: ({ status }) => (status === undefined ? [] : [status]),
          isPossible: isPossibleStatus,
        }),
      ),
  },
  {
    name: 'dir',
    example: 'dir:c2s (from the client), or dir:s2c (from the server)',
    parse: (value) =>
      ofResponse(
        choiceNode(value, DIRECTIONS, {
          read: ({ dirs }) => dirs,
          isPossible: ({ dir }, each) => each === dir,
        }),
        value.includes('s2c'),
      ),
  },
  {
    name: 'kind',
    example: 'kind:request, kind:response or kind:notification',
    parse: (value) =>
      ofResponse(
        choiceNode(value, KINDS, {
          read: ({ kinds }) => kinds,
          isPossible: ({ kind }, each) => kind === undefined || each === kind,
        }),
        value.includes('response'),
      ),
  },
  {
    name: 'duration',
    example: 'duration:>500ms, or duration:1s..2s',
    parse: (value) =>
      ofResponse(
        amountNode(value, parseDuration, {
          cost: FREE,
          read: ({ durationMs }) => durationMs,
          range: ({ longestMs }) => (longestMs === null ? undefined : { min: 0, max: longestMs }),
        }),
      ),
  },
  {
    name: 'size',
    example: 'size:>10kb, or size:1kb..2mb',
    parse: (value) =>
      ofResponse(
        amountNode(value, parseSize, {
          cost: READS_TEXT,
          read: sizeOf,
          range: ({ content }) => ({ min: content?.minBytes ?? 0, max: content?.maxBytes }),
        }),
      ),
  },
  {
    name: 'conn',
    example: 'conn:2',
    parse: (value) =>
      numberNode(
        value,
        ({ conn }) => conn,
        ({ conn }) => ({ min: conn, max: conn }),
      ),
  },
  {
    name: 'frame',
    aliases: ['n'],
    example: 'frame:12',
    parse: (value) =>
      numberNode(
        value,
        ({ frame }) => frame,
        () => null, // a message that is not on the tape yet has no number
      ),
  },
  {
    name: 'id',
    example: 'id:5, or id:"5" for a string',
    parse: (value) => ({
      cost: FREE,
      test: ({ id }) => id !== undefined && sameId(id, value),
      may: ({ id }) => id === undefined || sameId(id, value),
    }),
  },
]

function withoutTexts(node: FilterNode | undefined): FilterNode | undefined {
  return node && { ...node, neededTexts: [] }
}

function ofResponse(node: FilterNode | undefined, readsResponse = true): FilterNode | undefined {
  return node && { ...node, readsResponse }
}

/** How one of the names of a message is found. */
interface NameKind {
  readonly read: (subject: FilterSubject) => readonly string[]
  /** The name that all messages certainly have, if it is known. */
  readonly known: (glance: FilterGlance) => string | undefined
  /** If it is not known: gets the parts of a wanted name that every JSON text spells the same. Returns false if one is certainly missing. */
  readonly isPossible?: (glance: FilterGlance, parts: readonly string[]) => boolean
}

/** Names separated by commas, in which `*` matches any text. */
function namesNode(value: string, { read, known, isPossible }: NameKind): FilterNode | undefined {
  const names = value.split(',')
  if (names.includes('')) return undefined
  const patterns = names.map(namePattern)
  const plainParts = names.map((name) => name.split(/[^A-Za-z0-9_-]+/).filter((part) => part !== ''))
  const spelledParts = names.map(spelledPartsOf)
  const isWanted = (name: string): boolean => patterns.some((pattern) => pattern.test(name))
  return {
    cost: FREE,
    ...(names.length === 1 && { neededTexts: plainParts.flat().map((part) => part.toLowerCase()) }),
    test: (subject) => read(subject).some(isWanted),
    may: (glance) => {
      const name = known(glance)
      if (name !== undefined) return isWanted(name)
      return isPossible === undefined || spelledParts.some((parts) => isPossible(glance, parts))
    },
    mayNot: (glance) => {
      const name = known(glance)
      return name === undefined || !isWanted(name)
    },
  }
}

/** The parts of a name that every JSON text spells the same. Its quotes belong to them, and make the search faster. */
function spelledPartsOf(name: string): readonly string[] {
  const json = `"${name.replaceAll('"', '*')}"`
  return json.split(/[^A-Za-z0-9_"-]+/).filter((part) => part !== '' && part !== '"')
}

function namePattern(name: string): RegExp {
  const parts = name.split('*').map((part) => part.replaceAll(/[.+?^${}()|[\]\\]/g, String.raw`\$&`))
  return new RegExp(`^${parts.join('.*')}$`, 'su')
}

/** How one of a few values of a message is found. */
interface ChoiceKind<Value> {
  readonly read: (subject: FilterSubject) => readonly Value[]
  /** Whether a message can have this value, or none. */
  readonly isPossible: (glance: FilterGlance, value: Value | undefined) => boolean
}

function choiceNode<Value>(
  value: string,
  choices: Readonly<Record<string, readonly Value[]>>,
  { read, isPossible }: ChoiceKind<Value>,
): FilterNode | undefined {
  const words = value.split(',')
  if (words.some((word) => !Object.hasOwn(choices, word))) return undefined
  const wanted = new Set(words.flatMap((word) => choices[word] ?? []))
  const others = [...new Set(Object.values(choices).flat())].filter((each) => !wanted.has(each))
  return {
    cost: FREE,
    test: (subject) => read(subject).some((each) => wanted.has(each)),
    may: (glance) => [...wanted].some((each) => isPossible(glance, each)),
    mayNot: (glance) => [undefined, ...others].some((each) => isPossible(glance, each)),
  }
}

/** Whether a message on a link can have a status. Notifications have none. */
function isPossibleStatus({ kind, content }: FilterGlance, status: OutcomeKind | undefined): boolean {
  if (status === undefined) return kind === undefined || kind === 'notification'
  if (status === 'unanswered') return kind === undefined || kind === 'request'
  if (kind === 'request' || kind === 'notification') return false
  switch (status) {
    case 'ok':
      return true
    case 'error':
    case 'miss':
      return content?.mayContain('"error"') ?? true
    case 'tool-error':
      return content?.mayHaveMember('isError', (isError) => isError === true) ?? true
    case 'input-required':
      return content?.mayContain('"input_required"') ?? true
    case 'http-error':
    case 'lost':
    case 'cancelled':
    case 'cut':
      return false
  }
}

/** How the amount of a message is found. */
interface AmountKind {
  readonly cost: number
  readonly read: (subject: FilterSubject) => number | undefined
  /** The amounts that messages can have. Returns `undefined` if they have none. */
  readonly range: (
    glance: FilterGlance,
  ) => { readonly min: number; readonly max: number | undefined } | undefined
}

/** `>500ms`, `<=2s` or `1s..2s`. */
function amountNode(
  value: string,
  parse: (text: string) => number | undefined,
  { cost, read, range }: AmountKind,
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
  const mayBeWithin = ({
    min,
    max = Infinity,
  }: {
    readonly min: number
    readonly max?: number | undefined
  }) =>
    second === undefined
      ? compareBy(operator, operator.startsWith('>') ? max : min, first)
      : max >= first && min <= second
  return {
    cost,
    test: (subject) => {
      const amount = read(subject)
      return amount !== undefined && isWithin(amount)
    },
    may: (glance) => {
      const possible = range(glance)
      return possible !== undefined && mayBeWithin(possible)
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
  possible: (glance: FilterGlance) => NumberRange | null | undefined,
): FilterNode | undefined {
  const [, first, last = first] = /^(\d{1,15})(?:-(\d{1,15}))?$/.exec(value) ?? []
  if (first === undefined) return undefined
  const isWithin = (number: number): boolean => number >= Number(first) && number <= Number(last)
  return {
    cost: FREE,
    test: (subject) => {
      const number = read(subject)
      return number !== undefined && isWithin(number)
    },
    may: (glance) => {
      const range = possible(glance)
      return (
        range === undefined || (range !== null && range.min <= Number(last) && range.max >= Number(first))
      )
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
    return {
      ...combined(choices),
      test: (subject) => choices.some((node) => node.test(subject)),
      may: (glance) => choices.some((node) => mayMatch(node, glance)),
      mayNot: (glance) => choices.every((node) => mayNotMatch(node, glance)),
    }
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
    return {
      ...combined(sorted),
      neededTexts: sorted.flatMap((node) => node.neededTexts ?? []),
      test: (subject) => sorted.every((node) => node.test(subject)),
      may: (glance) => sorted.every((node) => mayMatch(node, glance)),
      mayNot: (glance) => sorted.some((node) => mayNotMatch(node, glance)),
    }
  }

  #term(): FilterNode {
    const start = this.#at
    if (this.#takeWord('not') || this.#isMinus()) {
      this.#take(SPACE)
      if (this.#at >= this.#text.length || this.#text[this.#at] === ')')
        throw this.#invalid('a term must follow the negation', start)
      const node = this.#nested(() => this.#term())
      return {
        ...node,
        neededTexts: [],
        test: (subject) => !node.test(subject),
        may: (glance) => mayNotMatch(node, glance),
        mayNot: (glance) => mayMatch(node, glance),
      }
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
    return number === undefined
      ? undefined
      : numberNode(
          number,
          ({ exchange }) => exchange,
          ({ exchanges }) => exchanges,
        )
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
    if (quoted === undefined && text !== undefined) this.#rejectOperator(text, start)
    if (typeof text === 'string') return searchNode(text)
    const why = quoted === undefined ? 'this quote is not closed' : `${quoted} is not a JSON string`
    throw this.#invalid(why, start)
  }

  /** `tool=search` would be searched as a text, and never be found. */
  #rejectOperator(word: unknown, at: number): void {
    const [, name = '', operator = '', value = ''] = /^(\w+)(==?|!=|>=?|<=?)(.*)$/s.exec(String(word)) ?? []
    const field = FIELDS.find((each) => each.name === name || each.aliases?.includes(name))
    if (field === undefined) return
    const isAmount = /[<>]/.test(operator) && ['duration', 'size'].includes(name)
    const right = `${operator === '!=' ? '-' : ''}${name}:${isAmount ? operator : ''}${value === '' ? '…' : value}`
    throw this.#invalid(
      `${name} is a field, and a colon follows a field`,
      at,
      `write ${right}; put ${JSON.stringify(word)} in quotes to search for it as text`,
    )
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

const EVERYTHING: FilterNode = { cost: FREE, test: () => true, mayNot: () => false }

function combined(nodes: readonly FilterNode[]): Pick<FilterNode, 'cost' | 'readsResponse'> {
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
  const plainNames = names.filter(isPlainMember).map((name) => `"${name}"`)
  const last = path.at(-1)
  return {
    cost: READS_VALUES,
    readsResponse: root !== 'params',
    test: (subject) => {
      if (names.some((name) => subject.mayHave?.(root, name) === false)) return false
      const value = subject.value(root)
      return value !== undefined && test(valuesAtPattern(value, path))
    },
    may: ({ kind, content, call }) => {
      if (root !== 'params' && (kind === 'request' || kind === 'notification')) return false
      const text = root === 'params' ? call : content
      if (text === null) return false
      if (text === undefined || !plainNames.every((name) => text.mayContain(name))) return text === undefined
      if (typeof last !== 'string' || !isPlainMember(last)) return true
      return text.mayHaveMember(last, (value) => test([value]))
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
export const MAX_PATTERN_TEXT: number = 64 * 1024

function patternNode(pattern: RegExp): FilterNode {
  return {
    cost: READS_TEXT,
    test: (subject) => subject.texts().some((text) => pattern.test(text.slice(0, MAX_PATTERN_TEXT))),
    may: ({ content }) => content?.mayMatch(pattern) ?? true,
  }
}

/** Finds a text in any case, as it is spelled in the JSON or as the JSON decodes to. */
function searchNode(text: string): FilterNode {
  const wanted = text.toLowerCase()
  const plain = plainPartOf(wanted)
  return {
    cost: READS_TEXT,
    ...(PLAIN_TEXT.test(wanted) && { neededTexts: [wanted] }),
    test: (subject) =>
      subject.methods.some((method) => method.toLowerCase().includes(wanted)) ||
      subject.texts().some((json) => json.toLowerCase().includes(wanted) || isInStrings(json, wanted)),
    may: ({ content, openMethods }) =>
      content === undefined ||
      openMethods === undefined ||
      plain === undefined ||
      content.mayContainInAnyCase(plain) ||
      [...openMethods].some((method) => method.toLowerCase().includes(wanted)),
  }
}

// Other characters can be spelled with short escapes, or have several forms.
const PLAIN_TEXT = /^[\w .,:;()@-]+$/

function isInStrings(json: string, wanted: string): boolean {
  if (!json.includes('\\') || parseJson(json) === undefined) return false
  let isFound = false
  forEachToken(json, (token) => {
    isFound ||= decodeLeaf(json, token).toLowerCase().includes(wanted)
  })
  return isFound
}
