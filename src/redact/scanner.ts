import { assignedSecrets, isSecretValue } from './assignments.ts'
import { besides, disjoint, type Edit } from './edits.ts'
import { eachToken, type JsonToken } from './json-values.ts'
import { leafText } from '../wire/leaves.ts'
import { KeyLines } from './key-lines.ts'
import { NamedPairs } from './named-pairs.ts'
import type { Rule } from './rule.ts'
import { plainName } from './rule-set.ts'
import { judgeName, type NameVerdict } from './secret-names.ts'
import type { Secrets } from './secrets.ts'
import { isInSchema, isStructure, withinMessage } from './structure.ts'
import { base64Views, percentDecoded, unescaped, type View } from './views.ts'

/** How deep one encoding may stand in another: base64 of JSON in a string of JSON in a string. */
const DEEPEST = 4

/** Finds the secrets of a text, however they are spelled in it, and says what stands there instead. */
export class Scanner {
  readonly #secrets: Secrets
  readonly #fields: ReadonlySet<string>

  constructor(secrets: Secrets) {
    this.#secrets = secrets
    this.#fields = new Set(secrets.rules.fields.map(plainName))
  }

  /** The edits of a text of any kind. */
  inText(text: string, depth = 0): readonly Edit[] {
    if (isJson(text)) return this.inJson(text, depth + 1)
    const cover = (start: number, end: number): string => this.#secrets.standIn(text.slice(start, end))
    const plain = disjoint([...this.#inStretch(text, depth + 1), ...this.#plainly(text)], cover)
    return depth < DEEPEST ? [...plain, ...besides(this.#inViews(text, depth + 1), plain)] : plain
  }

  /** The edits of a JSON text: what holds the protocol together is left alone, and names say what their values are. */
  inJson(text: string, depth = 0): readonly Edit[] {
    const edits: Edit[] = []
    const pairs = new NamedPairs()
    const keyLines = text.includes('PRIVATE KEY') ? new KeyLines() : undefined
    eachToken(text, (token) => {
      const name = pairs.nameOf(text, token)
      if (keyLines !== undefined && token.kind === 'string' && isInKey(text, token, keyLines))
        edits.push(this.#whole(text, token))
      else if (!isStructure(withinMessage(token.path)))
        edits.push(...this.#inToken(text, token, { name, depth }))
    })
    return edits
  }

  /** A line of a private key, in a list of its lines. */
  #whole(text: string, { start, end }: JsonToken): Edit {
    const value = leafText(text, { start, end })
    return { start, end, text: JSON.stringify(value === '' ? '' : this.#secrets.standIn(value)) }
  }

  /** The edits of a value that has a name. */
  inNamed(name: string, value: string, depth = 0): readonly Edit[] {
    return this.#judged(this.#verdictOn(name), value, depth)
  }

  readonly #isNamed = (name: string): boolean => this.#fields.size > 0 && this.#fields.has(plainName(name))

  #inToken(text: string, token: JsonToken, { name, depth }: Surroundings): readonly Edit[] {
    const { kind, start, end, path } = token
    if (kind === 'number') return this.#inNumber(text, token, name)
    const raw = text.slice(start + 1, end - 1)
    const verdict = kind === 'key' || isInSchema(path) ? 'no' : this.#verdictOn(name)
    if (verdict === 'no' && !this.#secrets.mayHold(raw)) return []
    const view = unescaped(raw)
    const edits = this.#judged(verdict, view?.text ?? raw, depth)
    return moved(view === undefined ? edits.map(escapedEdit) : view.editsOf(edits), start + 1)
  }

  #inNumber(text: string, { start, end, path }: JsonToken, name: string): readonly Edit[] {
    const value = text.slice(start, end)
    const isNamed = !isInSchema(path) && this.#verdictOn(name) === 'secret'
    if (!isNamed && !this.#secrets.isKnown(value)) return []
    return this.#secrets.isLeft(value) ? [] : [{ start, end, text: this.#secrets.standIn(value) }]
  }

  #verdictOn(name: string): NameVerdict {
    return this.#isNamed(name) ? 'secret' : judgeName(name)
  }

  #judged(verdict: NameVerdict, value: string, depth: number): readonly Edit[] {
    const inside = this.inText(value, depth)
    if (verdict === 'no' || isJson(value) || (inside.length > 0 && CONNECTION.test(value))) return inside
    const [, scheme = '', secret = ''] = SCHEME.exec(value) ?? []
    if (!isSecretValue(verdict, secret) || this.#secrets.isLeft(secret)) return inside
    this.#secrets.learn(secret)
    return [{ start: scheme.length, end: value.length, text: this.#secrets.standIn(secret) }]
  }

  /** JSON may stand in the middle of a text, as in `Result: {…}`. */
  #inStretch(text: string, depth: number): readonly Edit[] {
    const start = text.indexOf('{')
    const stretch = start < 0 || depth > DEEPEST ? '' : text.slice(start, text.lastIndexOf('}') + 1)
    return isJson(stretch) ? moved(this.inJson(stretch, depth), start) : []
  }

  #plainly(text: string): readonly Edit[] {
    const { known, rules } = this.#secrets
    const lower = text.toLowerCase()
    const found = [
      ...known.find(text),
      ...rules.rules.flatMap((rule) => (isWorthTrying(rule, lower) ? this.#byRule(rule, text) : [])),
      ...this.#assigned(text),
    ]
    const left = found.filter(({ start, end }) => this.#secrets.isLeft(text.slice(start, end)))
    return found
      .filter((range) => !left.some((whole) => isWithin(range, whole))) // a stand-in may look like another secret inside
      .map(({ start, end }) => ({ start, end, text: this.#secrets.standIn(text.slice(start, end)) }))
  }

  #byRule(rule: Rule, text: string): readonly Range[] {
    const found: Range[] = []
    for (const match of text.matchAll(withIndices(rule.pattern))) {
      const [start, end] = match.indices?.groups?.['secret'] ?? match.indices?.[0] ?? [0, 0]
      if (end <= start || rule.isSecret?.(text.slice(start, end)) === false) continue
      found.push({ start, end })
      if (rule.isLearned === true) this.#secrets.learn(text.slice(start, end))
    }
    return found
  }

  #assigned(text: string): readonly Range[] {
    const found = assignedSecrets(text, this.#isNamed)
    for (const { start, end } of found) this.#secrets.learn(text.slice(start, end))
    return found
  }

  #inViews(text: string, depth: number): readonly Edit[] {
    const isWorthIt = (view: View | undefined): view is View =>
      view !== undefined && this.#secrets.mayHold(view.text)
    const views = [unescaped(text), percentDecoded(text)].filter(isWorthIt)
    for (const view of base64Views(text, (bytes) => this.#secrets.mayHoldBytes(bytes))) views.push(view)
    const edits: Edit[] = []
    for (const view of views) edits.push(...besides(view.editsOf(this.inText(view.text, depth)), edits))
    return edits
  }
}

function isWithin({ start, end }: Range, whole: Range): boolean {
  return whole.start <= start && end <= whole.end
}

function isInKey(text: string, token: JsonToken, lines: KeyLines): boolean {
  return lines.isInside(leafText(text, token))
}

interface Surroundings {
  readonly name: string
  readonly depth: number
}

type Range = Pick<Edit, 'start' | 'end'>

/** A value of which only a part is secret, and was found. */
const CONNECTION = /:\/\/|^[\w ]+=[^;]*;/
const SCHEME = /^((?:bearer|basic|token|dpop|apikey|digest) +)?([\s\S]*)$/i

function moved(edits: readonly Edit[], by: number): readonly Edit[] {
  return edits.map(({ start, end, text }) => ({ start: start + by, end: end + by, text }))
}

function escapedEdit({ start, end, text }: Edit): Edit {
  return { start, end, text: JSON.stringify(text).slice(1, -1) }
}

function isWorthTrying(rule: Rule, lower: string): boolean {
  const keywords = lowerKeywords.get(rule) ?? rule.keywords.map((keyword) => keyword.toLowerCase())
  lowerKeywords.set(rule, keywords)
  return keywords.length === 0 || keywords.some((keyword) => lower.includes(keyword))
}

const lowerKeywords = new WeakMap<Rule, readonly string[]>()

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

const indexed = new WeakMap<RegExp, RegExp>()

function withIndices(pattern: RegExp): RegExp {
  const known = indexed.get(pattern)
  if (known !== undefined) return known
  const flags = [...new Set(`${pattern.flags}dg`)].join('')
  const made = new RegExp(pattern.source, flags)
  indexed.set(pattern, made)
  return made
}
