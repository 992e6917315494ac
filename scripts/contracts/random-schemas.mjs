// oxlint-disable unicorn/no-thenable -- JSON Schema has a keyword of this name
// Random schemas, changed forms of them, and random values of a small vocabulary, so that values often meet the limits of schemas.
const NAMES = ['a', 'b', 'c', 'x1']
const TEXTS = ['', 'a', 'ab', 'abc', 'x1', 'b', '2026-02-28', 'a@example.com', 'A', 'aa']
const NUMBERS = [-1, 0, 1, 2, 2.5, 3, 4, 6, 10, 0.5]
const PATTERNS = [
  '^a',
  'b$',
  '^[a-c]+$',
  '1',
  '^x',
  '^[a-z]*$',
  '^[a-z]{2,3}$',
  '^\\w+$',
  '^.{1,2}$',
  '^(?:ab|x1)?$',
  '[^a]',
]
const TYPES = ['null', 'boolean', 'string', 'integer', 'number', 'array', 'object']

/** `unknown`: the schemas also have a format and a keyword that no program knows. */
export function randomTools(random, { unknown = false } = {}) {
  const pick = (list) => list[Math.floor(random() * list.length)]
  const chance = (share) => random() < share
  const some = (list) => list.filter(() => chance(0.4))

  function value(depth) {
    const kind = random()
    if (depth > 0 && kind < 0.35)
      return Object.fromEntries(some(NAMES).map((name) => [name, value(depth - 1)]))
    if (depth > 0 && kind < 0.55)
      return Array.from({ length: Math.floor(random() * 4) }, () => value(depth - 1))
    if (kind < 0.7) return pick(TEXTS)
    if (kind < 0.85) return pick(NUMBERS)
    return pick([null, true, false, 'a', 1, {}, []])
  }

  function numeric() {
    return pick([
      () => ({ minimum: pick(NUMBERS) }),
      () => ({ maximum: pick(NUMBERS) }),
      () => ({ exclusiveMinimum: pick(NUMBERS) }),
      () => ({ exclusiveMaximum: pick(NUMBERS) }),
      () => ({ multipleOf: pick([1, 2, 3, 4, 0.5]) }),
      () => ({}),
    ])()
  }

  function textual() {
    return pick([
      () => ({ minLength: pick([0, 1, 2, 3]) }),
      () => ({ maxLength: pick([0, 1, 2, 3, 5]) }),
      () => ({ pattern: pick(PATTERNS) }),
      () => ({ format: pick(unknown ? ['date', 'x-even', 'x-even'] : ['date', 'email']) }),
      () => (unknown ? { 'x-not': pick(TEXTS) } : {}),
      () => ({}),
    ])()
  }

  function objectLike(depth) {
    const schema = {}
    if (chance(0.8))
      schema.properties = Object.fromEntries(some(NAMES).map((name) => [name, inner(depth - 1)]))
    if (chance(0.4)) schema.required = some(NAMES)
    if (chance(0.35)) schema.additionalProperties = chance(0.5) ? false : inner(depth - 1)
    if (chance(0.15)) schema.patternProperties = { [pick(PATTERNS)]: inner(depth - 1) }
    if (chance(0.1))
      schema.propertyNames = pick([
        { maxLength: 1 },
        { pattern: pick(PATTERNS) },
        { enum: some(NAMES).concat('a') },
      ])
    if (chance(0.1)) schema.minProperties = pick([0, 1, 2])
    if (chance(0.1)) schema.maxProperties = pick([0, 1, 2, 3])
    if (chance(0.1)) schema.dependentRequired = { [pick(NAMES)]: [pick(NAMES)] }
    if (chance(0.08)) schema.dependentSchemas = { [pick(NAMES)]: inner(depth - 1) }
    if (chance(0.08)) schema.unevaluatedProperties = chance(0.7) ? false : inner(depth - 1)
    return schema
  }

  function arrayLike(depth) {
    const schema = {}
    if (chance(0.6)) schema.items = chance(0.1) ? false : inner(depth - 1)
    if (chance(0.2)) schema.prefixItems = [inner(depth - 1), ...(chance(0.5) ? [inner(depth - 1)] : [])]
    if (chance(0.2)) schema.minItems = pick([0, 1, 2])
    if (chance(0.2)) schema.maxItems = pick([0, 1, 2, 3])
    if (chance(0.15)) schema.uniqueItems = chance(0.8)
    if (chance(0.15)) schema.contains = inner(0)
    if (chance(0.07)) schema.minContains = pick([0, 1, 2])
    if (chance(0.07)) schema.maxContains = pick([1, 2])
    return schema
  }

  function combination(depth) {
    return pick([
      () => ({ anyOf: [inner(depth - 1), inner(depth - 1)] }),
      () => ({ oneOf: [inner(depth - 1), inner(depth - 1)] }),
      () => ({ allOf: [inner(depth - 1), inner(depth - 1)] }),
      () => ({ not: inner(depth - 1) }),
      () => ({ if: inner(depth - 1), then: inner(depth - 1) }),
      () => ({ if: inner(depth - 1), then: inner(depth - 1), else: inner(depth - 1) }),
      () => ({ $ref: '#/$defs/d' }),
      () => ({ enum: [value(1), value(1), value(0)] }),
      () => ({ const: value(1) }),
    ])()
  }

  function inner(depth) {
    if (chance(0.04)) return chance(0.8)
    const schema = {}
    if (chance(0.75)) schema.type = chance(0.25) ? [...new Set([pick(TYPES), pick(TYPES)])] : pick(TYPES)
    const types = [schema.type ?? TYPES].flat()
    if (types.includes('integer') || types.includes('number'))
      Object.assign(schema, numeric(), chance(0.3) ? numeric() : {})
    if (types.includes('string')) Object.assign(schema, textual(), chance(0.2) ? textual() : {})
    if (depth > 0 && types.includes('object')) Object.assign(schema, objectLike(depth))
    if (depth > 0 && types.includes('array')) Object.assign(schema, arrayLike(depth))
    if (depth > 0 && chance(0.25)) Object.assign(schema, combination(depth))
    return schema
  }

  function randomSchema() {
    const depth = pick([1, 2, 2, 3])
    return {
      ...inner(depth),
      ...(chance(0.7) && { type: 'object', ...objectLike(depth) }),
      $defs: { d: inner(2) },
    }
  }

  /** Changes one place: drops a keyword, replaces it, or adds one. */
  function changed(original, depth = 0) {
    if (original === null || typeof original !== 'object' || Array.isArray(original)) return inner(1)
    const keys = Object.keys(original).filter((key) => key !== '$defs')
    const key = pick(keys)
    if (key === undefined || chance(0.15)) return { ...original, ...inner(1) }
    const below = original[key]
    if (chance(0.3)) {
      const { [key]: _, ...rest } = original
      return rest
    }
    if (['properties', 'patternProperties', 'dependentSchemas'].includes(key)) {
      const name = pick(Object.keys(below))
      if (name !== undefined)
        return { ...original, [key]: { ...below, [name]: changed(below[name], depth + 1) } }
    }
    if (['anyOf', 'oneOf', 'allOf', 'prefixItems'].includes(key)) {
      const at = Math.floor(random() * below.length)
      if (chance(0.3) && below.length > 1) return { ...original, [key]: below.toSpliced(at, 1) }
      if (chance(0.3)) return { ...original, [key]: [...below, inner(1)] }
      return { ...original, [key]: below.with(at, changed(below[at], depth + 1)) }
    }
    if (
      [
        'not',
        'if',
        'then',
        'else',
        'items',
        'additionalProperties',
        'contains',
        'propertyNames',
        'unevaluatedProperties',
      ].includes(key)
    )
      return { ...original, [key]: changed(below, depth + 1) }
    if (key === 'required')
      return { ...original, required: chance(0.5) ? below.slice(1) : [...new Set([...below, pick(NAMES)])] }
    if (key === 'enum')
      return {
        ...original,
        enum: chance(0.5) ? [...below, value(0)] : below.slice(0, -1).concat(below.length === 1 ? below : []),
      }
    if (typeof below === 'number')
      return { ...original, [key]: Math.max(key === 'multipleOf' ? 1 : 0, below + pick([-1, 1, 2])) }
    return { ...original, ...inner(1) }
  }

  return { schema: randomSchema, changed, value, pick, chance }
}
