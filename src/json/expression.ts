import { ReelayError } from '../errors.ts'
import { canonicalJson } from './canonical.ts'
import { isObject, parseJson } from './parse.ts'
import { EVERY_ITEM, parsePath, type PathPattern, type PathSegment } from './path.ts'

/** A condition on values, such as `result.total > 100 && params.arguments.q == "milk"`. */
export interface ValueExpression {
  readonly source: string
  /** The names at which paths begin, such as `result`. They say what must be known before the expression is evaluated. */
  readonly roots: ReadonlySet<string>
  /** Returns true if the condition holds. A bare path holds if there is a value that is not `false` or `null`. */
  test(root: unknown): boolean
  /** Returns the value of a bare path or literal, and true or false for anything else. */
  evaluate(root: unknown): unknown
}

/** Parses an expression. Throws a `ReelayError` with the position of a mistake. */
export function parseExpression(source: string): ValueExpression {
  const parser = new Parser(source)
  const node = parser.parse()
  return {
    source,
    roots: parser.roots,
    test: (root) => isTrue(node(root)),
    evaluate: (root) => {
      const values = node(root)
      return values.length > 1 ? values : values[0]
    },
  }
}

/** Returns all values that a part of an expression can have: a path with `[*]` has several, a path to nothing has none. */
type Node = (root: unknown) => readonly unknown[]

type Compare = (left: unknown, right: unknown) => boolean

const OPERATORS: Readonly<Record<string, Compare>> = {
  '==': isEqual,
  '=': isEqual,
  '!=': (left, right) => !isEqual(left, right),
  '>=': (left, right) => order(left, right) >= 0,
  '<=': (left, right) => order(left, right) <= 0,
  '>': (left, right) => order(left, right) > 0,
  '<': (left, right) => order(left, right) < 0,
  contains,
}

const TOKEN =
  /\s*(?:(?<path>(?!(?:true|false|null)\b(?!-))[\p{L}_$][\p{L}\p{N}_$-]*(?:\.[\p{L}\p{N}_$][\p{L}\p{N}_$-]*|\[(?:\d+|\*|"(?:[^"\\]|\\.)*")\])*)|(?<literal>true\b|false\b|null\b|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?|"(?:[^"\\]|\\.)*")|'(?<quoted>(?:[^'\\]|\\.)*)'|(?<operator>==|!=|>=|<=|&&|\|\||[=<>!()]))/uy

interface Token {
  readonly kind: 'path' | 'literal' | 'quoted' | 'operator'
  readonly text: string
  readonly at: number
}

class Parser {
  readonly roots = new Set<string>()
  readonly #source: string
  readonly #tokens: readonly Token[]
  #next = 0
  #depth = 0

  constructor(source: string) {
    this.#source = source
    this.#tokens = tokensIn(source)
  }

  parse(): Node {
    const node = this.#either()
    const rest = this.#tokens[this.#next]
    if (rest !== undefined) throw invalidExpression(this.#source, rest.at, `unexpected ${rest.text}`)
    return node
  }

  #either(): Node {
    let node = this.#both()
    while (this.#take('||')) {
      const [left, right] = [node, this.#both()]
      node = (root) => [isTrue(left(root)) || isTrue(right(root))]
    }
    return node
  }

  #both(): Node {
    let node = this.#not()
    while (this.#take('&&')) {
      const [left, right] = [node, this.#not()]
      node = (root) => [isTrue(left(root)) && isTrue(right(root))]
    }
    return node
  }

  #not(): Node {
    if (++this.#depth > MAX_DEPTH) throw invalidExpression(this.#source, 0, 'it is nested too deeply')
    try {
      if (!this.#take('!')) return this.#comparison()
      const node = this.#not()
      return (root) => [!isTrue(node(root))]
    } finally {
      this.#depth--
    }
  }

  #comparison(): Node {
    if (this.#take('(')) {
      const node = this.#either()
      if (!this.#take(')')) throw invalidExpression(this.#source, this.#position(), 'expected )')
      return node
    }
    const left = this.#operand()
    const operator = this.#tokens[this.#next]?.text ?? ''
    if (operator === 'matches') return this.#pattern(left)
    const compare = Object.hasOwn(OPERATORS, operator) ? OPERATORS[operator] : undefined
    if (compare === undefined) return left
    this.#next++
    const right = this.#operand()
    // A path that leads nowhere differs from every value, and compares with none.
    const whenMissing = operator === '!='
    return (root) => {
      const [lefts, rights] = [left(root), right(root)]
      if (lefts.length === 0 || rights.length === 0) return [whenMissing]
      return [lefts.some((one) => rights.some((other) => compare(one, other)))]
    }
  }

  #pattern(left: Node): Node {
    const at = this.#position()
    this.#next++
    const pattern = this.#operand()(undefined)[0]
    let expression: RegExp
    try {
      expression = new RegExp(String(pattern), 'u')
    } catch (error) {
      throw invalidExpression(this.#source, at, `invalid pattern: ${String(error)}`)
    }
    return (root) => [left(root).some((value) => isScalar(value) && expression.test(String(value)))]
  }

  #operand(): Node {
    const token = this.#tokens[this.#next++]
    if (token === undefined || token.kind === 'operator')
      throw invalidExpression(this.#source, token?.at ?? this.#source.length, 'expected a path or a value')
    if (token.kind === 'path') return this.#path(token.text)
    const value: unknown = token.kind === 'quoted' ? unquoted(token.text) : parseJson(token.text)
    if (value === undefined) throw invalidExpression(this.#source, token.at, 'the string is not valid JSON')
    return () => [value]
  }

  #path(text: string): Node {
    const path = parsePath(text)
    this.roots.add(String(path[0]))
    return (root) => valuesAt(root, path)
  }

  #take(operator: string): boolean {
    const token = this.#tokens[this.#next]
    if (token?.kind !== 'operator' || token.text !== operator) return false
    this.#next++
    return true
  }

  #position(): number {
    return this.#tokens[this.#next]?.at ?? this.#source.length
  }
}

const MAX_DEPTH = 100

function tokensIn(source: string): readonly Token[] {
  const tokens: Token[] = []
  let at = 0
  while (source.slice(at).trim() !== '') {
    TOKEN.lastIndex = at
    const found = TOKEN.exec(source)
    const entry = Object.entries(found?.groups ?? {}).find(([, text]) => text !== undefined)
    if (found === null || entry === undefined)
      throw invalidExpression(source, at, 'expected a path, a value or an operator')
    const [kind, text] = entry
    tokens.push({ kind: kind as Token['kind'], text, at: at + found[0].length - text.length })
    at += found[0].length
  }
  return tokens
}

function unquoted(text: string): string {
  return text.replaceAll(/\\(.)/gs, '$1')
}

/** Follows a path. It also leads into JSON in strings, because many tools return JSON as text, and to the `length` of a list or string. */
function valuesAt(root: unknown, path: PathPattern): readonly unknown[] {
  let values: readonly unknown[] = [root]
  for (const segment of path) values = values.flatMap((value) => childrenOf(value, segment))
  return values
}

function childrenOf(value: unknown, segment: PathSegment): readonly unknown[] {
  if (typeof value === 'string') {
    const json = /^\s*[[{]/.test(value) ? parseJson(value) : undefined
    if (typeof json === 'object') return childrenOf(json, segment)
    return segment === 'length' ? [value.length] : []
  }
  if (Array.isArray(value)) {
    if (segment === EVERY_ITEM) return value
    if (segment === 'length') return [value.length]
    return typeof segment === 'number' && segment < value.length ? [value[segment]] : []
  }
  return isObject(value) && typeof segment === 'string' && Object.hasOwn(value, segment)
    ? [value[segment]]
    : []
}

function isTrue(values: readonly unknown[]): boolean {
  return values.some((value) => value !== false && value !== null && value !== undefined)
}

function isEqual(left: unknown, right: unknown): boolean {
  if (typeof left !== 'object' || typeof right !== 'object') return left === right
  return canonicalJson(left) === canonicalJson(right)
}

/** Returns a number below, equal to or above 0, and `NaN` for values that have no order, such as a number and a string. */
function order(left: unknown, right: unknown): number {
  if (typeof left === 'number' && typeof right === 'number') return left - right
  if (typeof left !== 'string' || typeof right !== 'string') return Number.NaN
  return left < right ? -1 : left > right ? 1 : 0
}

function contains(left: unknown, right: unknown): boolean {
  if (typeof left === 'string') return left.includes(String(right))
  if (Array.isArray(left)) return left.some((item) => isEqual(item, right))
  return isObject(left) && typeof right === 'string' && Object.hasOwn(left, right)
}

function isScalar(value: unknown): value is string | number | boolean {
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean'
}

function invalidExpression(source: string, at: number, why: string): ReelayError {
  return new ReelayError(
    'USAGE',
    `cannot read the expression ${JSON.stringify(source)}: ${why} at position ${at + 1}`,
    {
      hint: 'write it like result.structuredContent.total > 100, params.arguments.q == "milk", result.content[*].text contains "x", or error; combine with && || ! ( )',
    },
  )
}
