import { isObject, member } from '../json/parse.ts'
import type { JsonPath } from '../json/path.ts'
import { formatSamples } from '../schemas/samples.ts'
import { memberNodes, itemNodes, partsOf } from '../schemas/schema-parts.ts'
import type { SchemaNode } from '../schemas/schema-document.ts'

/** A value that may be handled wrong, in words. */
export interface OddValue {
  readonly value: unknown
  /** Such as `one more than the largest recorded value`. */
  readonly why: string
}

/** What is known about one place in the arguments of a call. */
export interface ArgumentPlace {
  readonly path: JsonPath
  readonly value: unknown
  /** The schemas of the place. */
  readonly nodes: readonly SchemaNode[]
  /** The values that the tape has at this place in all calls of the tool. */
  readonly recorded: readonly unknown[]
}

/** Every value in the arguments of a call, the containers too, but not the arguments themselves. */
export function placesIn(
  args: unknown,
  nodes: readonly SchemaNode[],
  recordedAt: (path: JsonPath) => readonly unknown[],
): readonly ArgumentPlace[] {
  const places: ArgumentPlace[] = []
  const visit = (value: unknown, path: JsonPath, of: readonly SchemaNode[]): void => {
    if (places.length >= MOST_PLACES) return
    if (path.length > 0) places.push({ path, value, nodes: of, recorded: recordedAt(path) })
    const { parts } = partsOf(of)
    if (Array.isArray(value))
      for (const [at, item] of value.slice(0, MOST_ITEMS).entries())
        visit(item, [...path, at], itemNodes(parts, at))
    else if (isObject(value))
      for (const [name, child] of Object.entries(value))
        visit(child, [...path, name], memberNodes(parts, name))
  }
  visit(args, [], nodes)
  return places
}

const MOST_PLACES = 200
const MOST_ITEMS = 4

/** Values at and just beyond the limits of the schema and of what was recorded. */
export function boundaryValues({ value, nodes, recorded }: ArgumentPlace): readonly OddValue[] {
  const limit = (keyword: string): readonly number[] =>
    partsOf(nodes).parts.flatMap(({ schema }) => {
      const set = schema[keyword]
      return typeof set === 'number' ? [set] : []
    })
  if (typeof value === 'number') {
    const numbers = recorded.filter((each) => typeof each === 'number')
    const [least, most] = [Math.min(...numbers), Math.max(...numbers)]
    return [
      ...limit('minimum').flatMap((at) => [odd(at, 'the minimum'), odd(at - 1, 'less than the minimum')]),
      ...limit('maximum').flatMap((at) => [odd(at, 'the maximum'), odd(at + 1, 'more than the maximum')]),
      odd(0, 'zero'),
      odd(-1, 'a negative number'),
      ...(Number.isFinite(most)
        ? [odd(most + 1, 'one more than on the tape'), odd(most * 10, 'ten times as much')]
        : []),
      ...(Number.isFinite(least) ? [odd(least - 1, 'one less than on the tape')] : []),
      odd(0.5, 'a fraction'),
      odd(2 ** 31, 'more than 32 bits'),
      odd(2 ** 53, 'more than a number can count'),
      odd(-(2 ** 31), 'a large negative number'),
      odd(1e308, 'a huge number'),
    ]
  }
  if (typeof value === 'string') {
    const formats = partsOf(nodes).parts.flatMap(({ schema }) =>
      typeof schema['format'] === 'string' ? formatSamples(schema['format']) : [],
    )
    return [
      odd('', 'an empty text'),
      odd(' ', 'a space'),
      ...limit('maxLength').flatMap((at) => [
        odd('x'.repeat(Math.min(at, HUGE)), 'the longest text'),
        odd('x'.repeat(Math.min(at + 1, HUGE)), 'one character too many'),
      ]),
      ...limit('minLength').flatMap((at) =>
        at > 0 ? [odd('x'.repeat(at - 1), 'one character too few')] : [],
      ),
      ...enumOf(nodes).map((each) => odd(each, 'another choice')),
      ...formats.map((each) => odd(each, 'another form of the format')),
      odd(`${value}${value}`, 'the text twice'),
      odd(value.slice(0, -1), 'without its last character'),
      odd(value.toUpperCase(), 'in capitals'),
    ].filter(({ value: each }) => each !== value)
  }
  if (typeof value === 'boolean') return [odd(!value, 'the opposite')]
  if (Array.isArray(value)) {
    const items: readonly unknown[] = value
    return [
      odd([], 'an empty list'),
      odd([...items, ...items], 'the list twice'),
      odd(items.slice(0, 1), 'the first item only'),
      odd(items.toReversed(), 'the reversed list'),
      odd(
        Array.from({ length: MANY_ITEMS }, (_, at) => items[at % Math.max(1, items.length)] ?? at),
        'very many items',
      ),
    ]
  }
  return isObject(value) ? [odd({}, 'an empty object')] : []
}

const MANY_ITEMS = 2000

/** Values of another type. */
export function otherTypes({ value }: ArgumentPlace): readonly OddValue[] {
  const all = [
    odd(null, 'null'),
    odd(
      typeof value === 'number' ? String(value) : 7,
      typeof value === 'number' ? 'the number as a text' : 'a number',
    ),
    odd(String(value), 'a text'),
    odd(true, 'a boolean'),
    odd([value], 'the value in a list'),
    odd({ value }, 'the value in an object'),
    odd([], 'an empty list'),
    odd({}, 'an empty object'),
  ]
  return all.filter(({ value: each }) => typeOf(each) !== typeOf(value))
}

function typeOf(value: unknown): string {
  if (value === null) return 'null'
  return Array.isArray(value) ? 'array' : typeof value
}

/** Texts that programs often handle wrong. */
export function oddTexts(): readonly OddValue[] {
  return [
    odd('\u0000', 'a NUL character'),
    odd('a\u0000b', 'a NUL character inside of a text'),
    odd('\uD83D\uDE00 \u00E9 e\u0301 \u202Eabc', 'an emoji, accents and another writing direction'),
    odd('\uD800', 'half of a surrogate pair'),
    odd('\u200B', 'a space without width'),
    odd('ﷺ'.repeat(200), 'wide characters'),
    odd('İıſß', 'letters that change their length in capitals'),
    odd('line\nbreak\r\n\ttab', 'line breaks'),
    odd('__proto__', 'the name __proto__'),
    odd('constructor', 'the name constructor'),
    odd('toString', 'the name toString'),
    odd('null', 'the word null'),
    odd('undefined', 'the word undefined'),
    odd('NaN', 'the word NaN'),
    odd("' OR 1=1 --", 'an SQL fragment'),
    odd('"; \\ \' `', 'quotes and backslashes'),
    odd('%00%s%n%d', 'format directives'),
    odd('{{7*7}}${7*7}', 'template expressions'),
    odd('(a+)+$[', 'a broken pattern'),
    odd('(('.repeat(50), 'open brackets'),
    odd('-1', 'a negative number as a text'),
    odd('1e999', 'a number that is too large, as a text'),
    odd('9'.repeat(400), 'a number with 400 digits, as a text'),
    odd('0000-00-00', 'a date that does not exist'),
  ]
}

/** Values that are larger or deeper than anybody would send. */
export function hugeValues({ value }: ArgumentPlace): readonly OddValue[] {
  if (typeof value === 'string')
    return [
      odd('x'.repeat(HUGE), 'a text of 1 MB'),
      odd('é'.repeat(70_000), 'a text of 70,000 wide characters'),
    ]
  if (typeof value === 'number')
    return [odd(Number.MAX_SAFE_INTEGER, 'a huge number'), odd(-Number.MAX_VALUE, 'a huge negative number')]
  if (Array.isArray(value))
    return [
      odd(
        deep(500, (inner) => [inner]),
        'a deep list',
      ),
    ]
  return isObject(value)
    ? [
        odd(
          deep(500, (inner) => ({ a: inner })),
          'a deep object',
        ),
      ]
    : []
}

const HUGE = 1_000_000

/** What an operator does with a whole object of arguments. */
export function otherArguments(args: Readonly<Record<string, unknown>>): readonly OddValue[] {
  const names = Object.keys(args)
  return [
    ...names.map((name) => {
      const { [name]: _, ...rest } = args
      return odd(rest, `without ${name}`)
    }),
    odd({}, 'without arguments'),
    odd({ ...args, unknownArgument: 'x' }, 'with an argument that the tool does not have'),
    odd({ ...args, ['__proto__x']: {}, constructor: { prototype: {} } }, 'with the argument constructor'),
    odd({ ...args, deep: deep(300, (inner) => ({ a: inner })) }, 'with a deep argument'),
  ]
}

function deep(levels: number, wrap: (inner: unknown) => unknown): unknown {
  let value: unknown = 1
  for (let level = 0; level < levels; level++) value = wrap(value)
  return value
}

function enumOf(nodes: readonly SchemaNode[]): readonly unknown[] {
  return partsOf(nodes).parts.flatMap(({ schema }) => {
    const choices: unknown = member(schema, 'enum')
    return Array.isArray(choices) ? (choices as unknown[]) : []
  })
}

function odd(value: unknown, why: string): OddValue {
  return { value, why }
}
