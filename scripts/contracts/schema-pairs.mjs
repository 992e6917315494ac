// oxlint-disable unicorn/no-thenable -- JSON Schema has a keyword of this name
// Labelled pairs of input schemas: [name, label, before, after]. compatible: everything that was valid stays valid. breaking: something is not.
// unknown: nobody can tell without knowing a keyword, a format or another document.
const obj = (properties, required = [], more = {}) => ({
  type: 'object',
  properties,
  ...(required.length > 0 && { required }),
  ...more,
})
const S = { type: 'string' }
const N = { type: 'number' }
const I = { type: 'integer' }
const B_NULL = { type: 'null' }
const arr = (items, more = {}) => ({ type: 'array', items, ...more })
const D7 = 'http://json-schema.org/draft-07/schema#'
const D6 = 'http://json-schema.org/draft-06/schema#'
const D4 = 'http://json-schema.org/draft-04/schema#'
const BOOL = { type: 'boolean' }
const CLOSED = { additionalProperties: false }
const tup = (...prefixItems) => ({ type: 'array', prefixItems })
const D20 = 'https://json-schema.org/draft/2020-12/schema'
const D19 = 'https://json-schema.org/draft/2019-09/schema'
const one = (schema) => obj({ a: schema }, ['a'])
const tree = (more = {}) => ({
  $ref: '#/$defs/node',
  $defs: {
    node: obj({ value: S, children: { type: 'array', items: { $ref: '#/$defs/node' } } }, ['value'], more),
  },
})

const object = (properties, required, more = {}) => ({
  type: 'object',
  properties,
  ...(required && { required }),
  ...more,
})

const zod = (properties, required, more = {}) => ({
  $schema: D7,
  ...obj(properties, required),
  ...CLOSED,
  ...more,
})
const opt = (schema) => ({ anyOf: [schema, B_NULL], default: null })
const filterOf = (ops, more = {}) => ({
  $defs: {
    leaf: obj({ field: S, op: { enum: ops }, value: { type: ['string', 'number', 'boolean', 'null'] } }, [
      'field',
      'op',
    ]),
    node: {
      anyOf: [
        { $ref: '#/$defs/leaf' },
        obj({ and: arr({ $ref: '#/$defs/node' }, more) }, ['and'], CLOSED),
        obj({ not: { $ref: '#/$defs/node' } }, ['not'], CLOSED),
      ],
    },
  },
  ...obj({ filter: { $ref: '#/$defs/node' } }, ['filter']),
})

/** @type {[string, string, unknown, unknown][]} */
export const SCHEMA_PAIRS = [
  // required and optional members
  ['required added', 'breaking', obj({ a: S }), obj({ a: S, b: S }, ['b'])],
  ['optional became required', 'breaking', obj({ a: S }), obj({ a: S }, ['a'])],
  ['required became optional', 'compatible', obj({ a: S }, ['a']), obj({ a: S })],
  ['required renamed', 'breaking', obj({ query: S }, ['query']), obj({ q: S }, ['q'])],
  ['optional added to an open object', 'breaking', obj({ a: S }), obj({ a: S, b: S })],
  ['optional of any type added', 'compatible', obj({ a: S }), obj({ a: S, b: {} })],
  [
    'optional added to a closed object',
    'compatible',
    obj({ a: S }, [], { additionalProperties: false }),
    obj({ a: S, b: S }, [], { additionalProperties: false }),
  ],
  ['optional removed from an open object', 'compatible', obj({ a: S, b: S }), obj({ a: S })],
  [
    'optional removed from a closed object',
    'breaking',
    obj({ a: S, b: S }, [], { additionalProperties: false }),
    obj({ a: S }, [], { additionalProperties: false }),
  ],
  ['closed', 'breaking', obj({ a: S }), obj({ a: S }, [], { additionalProperties: false })],
  ['opened', 'compatible', obj({ a: S }, [], { additionalProperties: false }), obj({ a: S })],
  ['others have to be texts', 'breaking', obj({ a: S }), obj({ a: S }, [], { additionalProperties: S })],
  [
    'others may be numbers too',
    'compatible',
    obj({ a: S }, [], { additionalProperties: S }),
    obj({ a: S }, [], { additionalProperties: { type: ['string', 'number'] } }),
  ],
  [
    'only annotations changed',
    'compatible',
    obj({ a: { ...S, description: 'x' } }),
    obj({ a: { ...S, description: 'y', title: 'A', default: 'q' } }),
  ],
  [
    'order of required changed',
    'compatible',
    obj({ a: S, b: S }, ['a', 'b']),
    obj({ b: S, a: S }, ['b', 'a']),
  ],
  ['empty schema to object', 'breaking', {}, { type: 'object' }],
  ['object to empty schema', 'compatible', { type: 'object' }, {}],
  ['true to false', 'breaking', obj({ a: true }), obj({ a: false })],
  ['false to true', 'compatible', obj({ a: false }), obj({ a: true })],
  [
    'nested required added',
    'breaking',
    one(obj({ b: obj({ c: S }) })),
    one(obj({ b: obj({ c: S }, ['c']) })),
  ],
  [
    'nested required dropped',
    'compatible',
    one(obj({ b: obj({ c: S }, ['c']) }, ['b'])),
    one(obj({ b: obj({ c: S }) }, ['b'])),
  ],
  [
    'deep type narrowed',
    'breaking',
    one(obj({ b: obj({ c: obj({ d: obj({ e: N }) }) }) })),
    one(obj({ b: obj({ c: obj({ d: obj({ e: I }) }) }) })),
  ],
  // types
  ['number to integer', 'breaking', one(N), one(I)],
  ['integer to number', 'compatible', one(I), one(N)],
  ['string to number', 'breaking', one(S), one(N)],
  ['type list narrowed', 'breaking', one({ type: ['string', 'null'] }), one(S)],
  ['type list widened', 'compatible', one(S), one({ type: ['string', 'null'] })],
  ['null dropped through anyOf', 'breaking', one({ anyOf: [S, { type: 'null' }] }), one(S)],
  [
    'anyOf null written as a list',
    'compatible',
    one({ anyOf: [S, { type: 'null' }] }),
    one({ type: ['null', 'string'] }),
  ],
  ['type list written as anyOf', 'compatible', one({ type: ['string', 'integer'] }), one({ anyOf: [S, N] })],
  ['no type to a type', 'breaking', obj({ a: {} }), obj({ a: S })],
  ['boolean to an enum of both', 'compatible', one({ type: 'boolean' }), one({ enum: [true, false] })],
  ['scalar to list', 'breaking', one(S), one({ type: 'array', items: S })],
  ['integer or multiple of one', 'compatible', one(I), one({ type: 'number', multipleOf: 1 })],
  // enum and const
  ['enum narrowed', 'breaking', one({ enum: ['a', 'b', 'c'] }), one({ enum: ['a', 'b'] })],
  ['enum widened', 'compatible', one({ enum: ['a', 'b'] }), one({ enum: ['b', 'c', 'a'] })],
  ['enum to string', 'compatible', one({ enum: ['a', 'b'] }), one(S)],
  ['enum with a null to string', 'breaking', one({ enum: ['a', null] }), one(S)],
  ['string to enum', 'breaking', one(S), one({ ...S, enum: ['a', 'b'] })],
  ['const changed', 'breaking', one({ const: 1 }), one({ const: 2 })],
  ['const to enum', 'compatible', one({ const: 'a' }), one({ enum: ['a', 'b'] })],
  ['enum to const', 'breaking', one({ enum: ['a', 'b'] }), one({ const: 'a' })],
  [
    'enum with a pattern',
    'compatible',
    one({ enum: ['ab', 'abc'] }),
    one({ ...S, pattern: '^ab', maxLength: 3 }),
  ],
  ['enum with another case', 'breaking', one({ enum: ['asc', 'desc'] }), one({ enum: ['ASC', 'DESC'] })],
  ['enum of objects narrowed', 'breaking', one({ enum: [{ k: 1 }, { k: 2 }] }), one({ enum: [{ k: 1 }] })],
  ['enum with its type said', 'compatible', one({ enum: ['a', 'b'] }), one({ ...S, enum: ['a', 'b'] })],
  // numbers
  ['minimum raised', 'breaking', one({ ...I, minimum: 0 }), one({ ...I, minimum: 1 })],
  ['minimum lowered', 'compatible', one({ ...I, minimum: 1 }), one({ ...I, minimum: 0 })],
  ['maximum lowered', 'breaking', one({ ...I, maximum: 100 }), one({ ...I, maximum: 50 })],
  ['maximum added', 'breaking', one(N), one({ ...N, maximum: 1000 })],
  ['maximum removed', 'compatible', one({ ...N, maximum: 1000 }), one(N)],
  ['minimum became exclusive', 'breaking', one({ ...N, minimum: 0 }), one({ ...N, exclusiveMinimum: 0 })],
  [
    'exclusive minimum became inclusive',
    'compatible',
    one({ ...N, exclusiveMinimum: 0 }),
    one({ ...N, minimum: 0 }),
  ],
  [
    'a bound that another one implies',
    'compatible',
    one({ ...N, minimum: 10, maximum: 20 }),
    one({ ...N, minimum: 0 }),
  ],
  ['multipleOf added', 'breaking', one(I), one({ ...I, multipleOf: 5 })],
  ['multipleOf 2 to 4', 'breaking', one({ ...I, multipleOf: 2 }), one({ ...I, multipleOf: 4 })],
  ['multipleOf 4 to 2', 'compatible', one({ ...I, multipleOf: 4 }), one({ ...I, multipleOf: 2 })],
  [
    'bounds of numbers beside texts',
    'breaking',
    one({ type: ['string', 'number'] }),
    one({ type: ['string', 'number'], minimum: 0 }),
  ],
  ['bounds where there are only texts', 'compatible', one(S), one({ ...S, minimum: 5 })],
  ['range moved', 'breaking', one({ ...I, minimum: 1, maximum: 10 }), one({ ...I, minimum: 5, maximum: 15 })],
  // texts
  ['maxLength added', 'breaking', one(S), one({ ...S, maxLength: 100 })],
  ['maxLength raised', 'compatible', one({ ...S, maxLength: 100 }), one({ ...S, maxLength: 200 })],
  ['minLength added', 'breaking', one(S), one({ ...S, minLength: 1 })],
  ['minLength removed', 'compatible', one({ ...S, minLength: 3 }), one({ ...S, minLength: 1 })],
  ['pattern added', 'breaking', one(S), one({ ...S, pattern: '^[a-z]+$' })],
  ['pattern removed', 'compatible', one({ ...S, pattern: '^[a-z]+$' }), one(S)],
  [
    'pattern kept, length widened',
    'compatible',
    one({ ...S, pattern: '^[a-z]+$', maxLength: 5 }),
    one({ ...S, pattern: '^[a-z]+$' }),
  ],
  ['pattern narrowed', 'breaking', one({ ...S, pattern: '^[a-z0-9]+$' }), one({ ...S, pattern: '^[a-z]+$' })],
  [
    'pattern for other ids',
    'breaking',
    one({ ...S, pattern: '^usr-[0-9]{4}$' }),
    one({ ...S, pattern: '^user-[0-9]{4}$' }),
  ],
  [
    'pattern written in other words',
    'compatible',
    one({ ...S, pattern: '^[0-9]+$' }),
    one({ ...S, pattern: '^\\d+$' }),
  ],
  ['pattern that everything matches', 'compatible', one(S), one({ ...S, pattern: '.*' })],
  ['format added', 'breaking', one(S), one({ ...S, format: 'date' })],
  ['format removed', 'compatible', one({ ...S, format: 'email' }), one(S)],
  ['format date to date-time', 'breaking', one({ ...S, format: 'date' }), one({ ...S, format: 'date-time' })],
  ['format uri to uuid', 'breaking', one({ ...S, format: 'uri' }), one({ ...S, format: 'uuid' })],
  ['same format', 'compatible', one({ ...S, format: 'date' }), one({ ...S, format: 'date', minLength: 0 })],
  ['unknown format added', 'unknown', one(S), one({ ...S, format: 'phone' })],
  [
    'unknown format on both sides, and a longer text',
    'unknown',
    one({ ...S, format: 'phone', maxLength: 5 }),
    one({ ...S, format: 'phone', maxLength: 9 }),
  ],
  [
    'unknown format in a place that did not change',
    'compatible',
    obj({ p: { ...S, format: 'phone' }, n: I }),
    obj({ p: { ...S, format: 'phone' }, n: N }),
  ],
  // lists
  ['items narrowed', 'breaking', one({ type: 'array', items: N }), one({ type: 'array', items: I })],
  ['items widened', 'compatible', one({ type: 'array', items: I }), one({ type: 'array', items: N })],
  ['items added', 'breaking', one({ type: 'array' }), one({ type: 'array', items: S })],
  [
    'minItems added',
    'breaking',
    one({ type: 'array', items: S }),
    one({ type: 'array', items: S, minItems: 1 }),
  ],
  ['maxItems lowered', 'breaking', one({ type: 'array', maxItems: 10 }), one({ type: 'array', maxItems: 5 })],
  [
    'maxItems raised',
    'compatible',
    one({ type: 'array', maxItems: 5 }),
    one({ type: 'array', maxItems: 10 }),
  ],
  [
    'uniqueItems added',
    'breaking',
    one({ type: 'array', items: S }),
    one({ type: 'array', items: S, uniqueItems: true }),
  ],
  [
    'uniqueItems removed',
    'compatible',
    one({ type: 'array', items: S, uniqueItems: true }),
    one({ type: 'array', items: S }),
  ],
  [
    'uniqueItems where there is one item',
    'compatible',
    one({ type: 'array', maxItems: 1 }),
    one({ type: 'array', uniqueItems: true }),
  ],
  [
    'prefixItems narrowed',
    'breaking',
    one({ type: 'array', prefixItems: [S, N] }),
    one({ type: 'array', prefixItems: [S, I] }),
  ],
  [
    'prefixItems shortened',
    'compatible',
    one({ type: 'array', prefixItems: [S, N] }),
    one({ type: 'array', prefixItems: [S] }),
  ],
  [
    'prefixItems closed',
    'breaking',
    one({ type: 'array', prefixItems: [S, N] }),
    one({ type: 'array', prefixItems: [S, N], items: false }),
  ],
  [
    'tuple to list',
    'compatible',
    one({ type: 'array', prefixItems: [I, I], items: false }),
    one({ type: 'array', items: N, maxItems: 2 }),
  ],
  [
    'list to tuple',
    'breaking',
    one({ type: 'array', items: N }),
    one({ type: 'array', prefixItems: [N, N], minItems: 2 }),
  ],
  [
    'contains added',
    'breaking',
    one({ type: 'array', items: N }),
    one({ type: 'array', items: N, contains: { const: 1 } }),
  ],
  ['contains removed', 'compatible', one({ type: 'array', contains: S }), one({ type: 'array' })],
  [
    'contains that all items fulfil',
    'compatible',
    one({ type: 'array', items: S, minItems: 1 }),
    one({ type: 'array', items: S, contains: { type: ['string', 'null'] } }),
  ],
  [
    'minContains raised',
    'breaking',
    one({ type: 'array', contains: S, minContains: 1 }),
    one({ type: 'array', contains: S, minContains: 2 }),
  ],
  [
    'items of objects: required added',
    'breaking',
    one({ type: 'array', items: obj({ id: S }) }),
    one({ type: 'array', items: obj({ id: S }, ['id']) }),
  ],
  // references and recursion
  [
    'definition narrowed',
    'breaking',
    { ...one({ $ref: '#/$defs/x' }), $defs: { x: N } },
    { ...one({ $ref: '#/$defs/x' }), $defs: { x: I } },
  ],
  [
    'definition moved',
    'compatible',
    { ...one({ $ref: '#/$defs/x' }), $defs: { x: N } },
    { ...one({ $ref: '#/definitions/y' }), definitions: { y: N } },
  ],
  [
    'reference written out',
    'compatible',
    { ...one({ $ref: '#/$defs/x' }), $defs: { x: obj({ b: S }, ['b']) } },
    one(obj({ b: S }, ['b'])),
  ],
  [
    'reference by anchor',
    'compatible',
    { ...one({ $ref: '#there' }), $defs: { x: { $anchor: 'there', ...I } } },
    one(N),
  ],
  ['recursive, the same', 'compatible', tree(), { ...tree(), title: 'Tree' }],
  [
    'recursive, optional value',
    'compatible',
    tree(),
    {
      $ref: '#/$defs/n',
      $defs: { n: obj({ value: S, children: { type: 'array', items: { $ref: '#/$defs/n' } } }) },
    },
  ],
  ['recursive, closed', 'breaking', tree(), tree({ additionalProperties: false })],
  [
    'recursive, required added inside',
    'breaking',
    tree(),
    {
      $ref: '#/$defs/node',
      $defs: {
        node: obj({ value: S, children: { type: 'array', items: { $ref: '#/$defs/node' } } }, [
          'value',
          'children',
        ]),
      },
    },
  ],
  [
    'recursive list of lists widened',
    'compatible',
    { $ref: '#/$defs/l', $defs: { l: { anyOf: [I, { type: 'array', items: { $ref: '#/$defs/l' } }] } } },
    { $ref: '#/$defs/l', $defs: { l: { anyOf: [N, { type: 'array', items: { $ref: '#/$defs/l' } }] } } },
  ],
  ['a reference to itself', 'unknown', one(S), { $ref: '#' }],
  ['a reference to another document', 'unknown', one(S), one({ $ref: 'https://example.com/schema.json' })],
  ['a reference that leads nowhere', 'unknown', one(S), one({ $ref: '#/$defs/nothing' })],
  [
    'siblings of a reference count',
    'breaking',
    { ...one({ $ref: '#/$defs/x' }), $defs: { x: S } },
    { ...one({ $ref: '#/$defs/x', maxLength: 3 }), $defs: { x: S } },
  ],
  // composition
  ['anyOf branch removed', 'breaking', one({ anyOf: [S, N, { type: 'boolean' }] }), one({ anyOf: [S, N] })],
  ['anyOf branch added', 'compatible', one({ anyOf: [S, N] }), one({ anyOf: [S, N, { type: 'boolean' }] })],
  ['anyOf branch narrowed', 'breaking', one({ anyOf: [S, N] }), one({ anyOf: [S, I] })],
  ['oneOf to anyOf', 'compatible', one({ oneOf: [S, N] }), one({ anyOf: [S, N] })],
  [
    'anyOf to oneOf, disjoint',
    'compatible',
    one({ anyOf: [S, { type: 'boolean' }] }),
    one({ oneOf: [S, { type: 'boolean' }] }),
  ],
  ['anyOf to oneOf, overlapping', 'breaking', one({ anyOf: [N, I] }), one({ oneOf: [N, I] })],
  [
    'oneOf with a discriminator, widened',
    'compatible',
    one({ oneOf: [obj({ k: { const: 'a' }, v: I }, ['k']), obj({ k: { const: 'b' } }, ['k'])] }),
    one({ oneOf: [obj({ k: { const: 'a' }, v: N }, ['k']), obj({ k: { const: 'b' } }, ['k'])] }),
  ],
  [
    'oneOf with a discriminator, a case removed',
    'breaking',
    one({ oneOf: [obj({ k: { const: 'a' } }, ['k']), obj({ k: { const: 'b' } }, ['k'])] }),
    one({ oneOf: [obj({ k: { const: 'a' } }, ['k'])] }),
  ],
  [
    'allOf merged',
    'compatible',
    { allOf: [obj({ a: S }, ['a']), obj({ b: N }, ['b'])] },
    obj({ a: S, b: N }, ['a', 'b']),
  ],
  [
    'allOf grew',
    'breaking',
    { allOf: [obj({ a: S }, ['a'])] },
    { allOf: [obj({ a: S }, ['a']), { required: ['b'] }] },
  ],
  [
    'allOf shrank',
    'compatible',
    { allOf: [obj({ a: S }, ['a']), { required: ['b'] }] },
    obj({ a: S }, ['a']),
  ],
  ['not added', 'breaking', one(S), one({ ...S, not: { const: 'root' } })],
  ['not removed', 'compatible', one({ ...S, not: { const: 'root' } }), one(S)],
  [
    'not excludes less',
    'compatible',
    one({ ...S, not: { enum: ['a', 'b'] } }),
    one({ ...S, not: { enum: ['a'] } }),
  ],
  [
    'not excludes more',
    'breaking',
    one({ ...S, not: { enum: ['a'] } }),
    one({ ...S, not: { enum: ['a', 'b'] } }),
  ],
  ['not of a type that was never valid', 'compatible', one(S), one({ ...S, not: { type: 'number' } })],
  [
    'either one or the other is required',
    'breaking',
    obj({ a: S, b: S }),
    obj({ a: S, b: S }, [], { anyOf: [{ required: ['a'] }, { required: ['b'] }] }),
  ],
  [
    'if and then added',
    'breaking',
    obj({ kind: S, size: N }),
    obj({ kind: S, size: N }, [], {
      if: { properties: { kind: { const: 'box' } }, required: ['kind'] },
      then: { required: ['size'] },
    }),
  ],
  [
    'if and then removed',
    'compatible',
    obj({ kind: S }, [], { if: { required: ['kind'] }, then: { required: ['size'] } }),
    obj({ kind: S }),
  ],
  [
    'if whose then always holds',
    'compatible',
    obj({ kind: S, size: N }, ['size']),
    obj({ kind: S }, [], { if: { required: ['kind'] }, then: { required: ['size'] } }),
  ],
  [
    'else added',
    'breaking',
    obj({ a: S }),
    obj({ a: S }, [], { if: { required: ['a'] }, else: { required: ['b'] } }),
  ],
  // names, counts and dependencies
  [
    'dependentRequired added',
    'breaking',
    obj({ card: S, cvc: S }),
    obj({ card: S, cvc: S }, [], { dependentRequired: { card: ['cvc'] } }),
  ],
  [
    'dependentRequired of something that is required',
    'compatible',
    obj({ card: S, cvc: S }, ['cvc']),
    obj({ card: S, cvc: S }, [], { dependentRequired: { card: ['cvc'] } }),
  ],
  [
    'dependentRequired removed',
    'compatible',
    obj({ card: S }, [], { dependentRequired: { card: ['cvc'] } }),
    obj({ card: S }),
  ],
  [
    'dependentSchemas added',
    'breaking',
    obj({ a: S, n: N }),
    obj({ a: S, n: N }, [], { dependentSchemas: { a: obj({ n: I }) } }),
  ],
  [
    'propertyNames added',
    'breaking',
    { type: 'object' },
    { type: 'object', propertyNames: { pattern: '^[a-z]+$' } },
  ],
  [
    'propertyNames removed',
    'compatible',
    { type: 'object', propertyNames: { maxLength: 3 } },
    { type: 'object' },
  ],
  [
    'propertyNames that a closed object fulfils',
    'compatible',
    obj({ ab: S }, [], { additionalProperties: false }),
    obj({ ab: S }, [], { propertyNames: { maxLength: 3 } }),
  ],
  ['minProperties added', 'breaking', obj({ a: S }), obj({ a: S }, [], { minProperties: 1 })],
  [
    'minProperties that required implies',
    'compatible',
    obj({ a: S, b: S }, ['a', 'b']),
    obj({ a: S, b: S }, [], { minProperties: 2 }),
  ],
  ['maxProperties added', 'breaking', obj({ a: S }), obj({ a: S }, [], { maxProperties: 2 })],
  [
    'patternProperties added',
    'breaking',
    { type: 'object' },
    { type: 'object', patternProperties: { '^x-': S } },
  ],
  [
    'patternProperties widened',
    'compatible',
    { type: 'object', patternProperties: { '^x-': I } },
    { type: 'object', patternProperties: { '^x-': N } },
  ],
  [
    'patternProperties closed',
    'breaking',
    { type: 'object', patternProperties: { '^x-': S } },
    { type: 'object', patternProperties: { '^x-': S }, additionalProperties: false },
  ],
  [
    'unevaluatedProperties closed',
    'breaking',
    { allOf: [obj({ a: S })] },
    { allOf: [obj({ a: S })], unevaluatedProperties: false },
  ],
  [
    'unevaluatedProperties of a closed object',
    'compatible',
    obj({ a: S }, [], { additionalProperties: false }),
    { allOf: [obj({ a: S })], unevaluatedProperties: false },
  ],
  [
    'unevaluatedProperties opened',
    'compatible',
    { allOf: [obj({ a: S })], unevaluatedProperties: false },
    obj({ a: S }),
  ],
  // keywords that are not known
  ['unknown keyword added', 'unknown', one(S), one({ ...S, 'x-check': 'luhn' })],
  [
    'unknown keyword beside a break',
    'breaking',
    one(S),
    obj({ a: { ...S, 'x-check': 'luhn' }, b: S }, ['a', 'b']),
  ],
  [
    'unknown keyword on both sides, nothing else there',
    'compatible',
    obj({ p: { ...S, 'x-ui': 1 }, n: I }),
    obj({ p: { ...S, 'x-ui': 1 }, n: N }),
  ],
  [
    '$dynamicRef',
    'compatible',
    one(S),
    { $dynamicRef: '#x', $defs: { x: { $dynamicAnchor: 'x', type: 'object' } } },
  ],
  ['unknown dialect', 'unknown', one(S), { $schema: 'https://example.com/dialect', ...one(S) }],
  // drafts
  [
    'draft 7: tuple narrowed',
    'breaking',
    { $schema: D7, ...one({ type: 'array', items: [N, N] }) },
    { $schema: D7, ...one({ type: 'array', items: [I, N] }) },
  ],
  [
    'draft 7: tuple closed',
    'breaking',
    { $schema: D7, ...one({ type: 'array', items: [N] }) },
    { $schema: D7, ...one({ type: 'array', items: [N], additionalItems: false }) },
  ],
  [
    'draft 7: tuple opened',
    'compatible',
    { $schema: D7, ...one({ type: 'array', items: [N], additionalItems: false }) },
    { $schema: D7, ...one({ type: 'array', items: [N] }) },
  ],
  [
    'draft 7 to 2020-12: tuple',
    'compatible',
    { $schema: D7, ...one({ type: 'array', items: [I] }) },
    one({ type: 'array', prefixItems: [N] }),
  ],
  [
    'draft 7: dependencies',
    'breaking',
    { $schema: D7, ...obj({ a: S, b: S }) },
    { $schema: D7, ...obj({ a: S, b: S }, [], { dependencies: { a: ['b'] } }) },
  ],
  [
    'draft 7: definitions',
    'compatible',
    { $schema: D7, ...one({ $ref: '#/definitions/x' }), definitions: { x: I } },
    { $schema: D7, ...one({ $ref: '#/definitions/x' }), definitions: { x: N } },
  ],
  [
    'draft 6: exclusive maximum',
    'breaking',
    { $schema: D6, ...one({ ...N, maximum: 5 }) },
    { $schema: D6, ...one({ ...N, exclusiveMaximum: 5 }) },
  ],
  [
    'draft 4: exclusiveMinimum is a flag',
    'breaking',
    { $schema: D4, ...one({ ...N, minimum: 0 }) },
    { $schema: D4, ...one({ ...N, minimum: 0, exclusiveMinimum: true }) },
  ],
  [
    'draft 4 to 2020-12',
    'compatible',
    { $schema: D4, ...one({ ...N, minimum: 0, exclusiveMinimum: true }) },
    one({ ...N, minimum: 0 }),
  ],
  [
    '2019-09: unevaluated',
    'breaking',
    { $schema: D19, ...obj({ a: S }) },
    { $schema: D19, ...obj({ a: S }), unevaluatedProperties: false },
  ],
  [
    'older words without $schema',
    'compatible',
    one({ type: 'array', items: [I] }),
    one({ type: 'array', items: [N] }),
  ],
  // tools as they are
  [
    'a limit got a maximum',
    'breaking',
    obj({ query: S, limit: { ...I, minimum: 1, default: 10 } }, ['query']),
    obj({ query: S, limit: { ...I, minimum: 1, maximum: 100, default: 10 } }, ['query']),
  ],
  [
    'a path became a list of paths',
    'breaking',
    obj({ path: S }, ['path']),
    obj({ path: { anyOf: [{ type: 'array', items: S }] } }, ['path']),
  ],
  [
    'a path became a path or a list',
    'compatible',
    obj({ path: S }, ['path'], { additionalProperties: false }),
    obj({ path: { anyOf: [S, { type: 'array', items: S }] } }, ['path'], { additionalProperties: false }),
  ],
  [
    'head and tail were added',
    'compatible',
    obj({ path: S }, ['path'], { additionalProperties: false }),
    obj({ path: S, head: N, tail: N }, ['path'], { additionalProperties: false }),
  ],
  [
    'pydantic: optional written as anyOf',
    'compatible',
    obj({ n: { anyOf: [I, { type: 'null' }], default: null } }, [], { additionalProperties: false }),
    obj({ n: { anyOf: [N, { type: 'null' }], default: null, title: 'N' } }, [], {
      additionalProperties: false,
    }),
  ],
  [
    'zod: strict dropped',
    'compatible',
    { $schema: D7, ...obj({ a: S }, ['a'], { additionalProperties: false }) },
    { $schema: D7, ...obj({ a: S }, ['a']) },
  ],
  // a second set, written after the first one was right

  [
    'nullable via oneOf to type list',
    'compatible',
    obj({ a: { oneOf: [S, B_NULL] } }),
    obj({ a: { type: ['string', 'null'] } }),
  ],
  [
    'union of objects widened by a case',
    'compatible',
    obj({ s: { oneOf: [obj({ t: { const: 'a' } }, ['t']), obj({ t: { const: 'b' } }, ['t'])] } }, ['s']),
    obj(
      {
        s: {
          oneOf: [
            obj({ t: { const: 'a' } }, ['t']),
            obj({ t: { const: 'b' } }, ['t']),
            obj({ t: { const: 'c' } }, ['t']),
          ],
        },
      },
      ['s'],
    ),
  ],
  [
    'union member gained a required field',
    'breaking',
    obj({ s: { anyOf: [obj({ t: { const: 'a' } }, ['t']), obj({ t: { const: 'b' } }, ['t'])] } }, ['s']),
    obj({ s: { anyOf: [obj({ t: { const: 'a' } }, ['t']), obj({ t: { const: 'b' }, n: N }, ['t', 'n'])] } }, [
      's',
    ]),
  ],
  [
    'array of enum widened',
    'compatible',
    obj({ f: arr({ enum: ['a', 'b'] }) }),
    obj({ f: arr({ enum: ['a', 'b', 'c'] }) }),
  ],
  [
    'array of enum narrowed',
    'breaking',
    obj({ f: arr({ enum: ['a', 'b', 'c'] }) }),
    obj({ f: arr({ enum: ['a', 'b'] }) }),
  ],
  [
    'map of strings to map of any',
    'compatible',
    obj({ m: { type: 'object', additionalProperties: S } }),
    obj({ m: { type: 'object', additionalProperties: true } }),
  ],
  [
    'map of strings to map of numbers',
    'breaking',
    obj({ m: { type: 'object', additionalProperties: S } }),
    obj({ m: { type: 'object', additionalProperties: N } }),
  ],
  [
    'map with pattern keys opened',
    'compatible',
    obj({ m: { type: 'object', patternProperties: { '^[a-z]+$': S }, additionalProperties: false } }),
    obj({ m: { type: 'object', additionalProperties: S } }),
  ],
  [
    'limit default only',
    'compatible',
    obj({ limit: { ...I, default: 10 } }),
    obj({ limit: { ...I, default: 20 } }),
  ],
  ['string or array of strings narrowed', 'breaking', obj({ p: { anyOf: [S, arr(S)] } }), obj({ p: arr(S) })],
  ['uuid format added', 'breaking', obj({ id: S }, ['id']), obj({ id: { ...S, format: 'uuid' } }, ['id'])],
  [
    'min and max swapped semantics',
    'breaking',
    obj({ n: { ...I, minimum: 0, maximum: 10 } }),
    obj({ n: { ...I, exclusiveMinimum: 0, exclusiveMaximum: 10 } }),
  ],
  [
    'date-time to date',
    'breaking',
    obj({ d: { ...S, format: 'date-time' } }),
    obj({ d: { ...S, format: 'date' } }),
  ],
  ['email to any', 'compatible', obj({ d: { ...S, format: 'email' } }), obj({ d: S })],
  [
    'anyOf required combos relaxed',
    'compatible',
    obj({ a: S, b: S }, [], { anyOf: [{ required: ['a'] }, { required: ['b'] }] }),
    obj({ a: S, b: S }),
  ],
  [
    'anyOf required to oneOf required',
    'breaking',
    obj({ a: S, b: S }, [], { anyOf: [{ required: ['a'] }, { required: ['b'] }] }),
    obj({ a: S, b: S }, [], { oneOf: [{ required: ['a'] }, { required: ['b'] }] }),
  ],
  [
    'mutually exclusive added',
    'breaking',
    obj({ a: S, b: S }),
    obj({ a: S, b: S }, [], { not: { required: ['a', 'b'] } }),
  ],
  [
    'mutually exclusive removed',
    'compatible',
    obj({ a: S, b: S }, [], { not: { required: ['a', 'b'] } }),
    obj({ a: S, b: S }),
  ],
  [
    'tuple grew optional',
    'compatible',
    obj({ t: { type: 'array', prefixItems: [N, N], items: false } }),
    obj({ t: { type: 'array', prefixItems: [N, N, S], items: false } }),
  ],
  [
    'geo point bounds',
    'breaking',
    obj({ lat: N, lon: N }, ['lat', 'lon']),
    obj({ lat: { ...N, minimum: -90, maximum: 90 }, lon: { ...N, minimum: -180, maximum: 180 } }, [
      'lat',
      'lon',
    ]),
  ],
  [
    'recursive filter gains an operator',
    'compatible',
    {
      $ref: '#/$defs/f',
      $defs: {
        f: {
          oneOf: [
            obj({ op: { const: 'eq' }, v: S }, ['op', 'v'], { additionalProperties: false }),
            obj({ op: { const: 'and' }, all: arr({ $ref: '#/$defs/f' }) }, ['op', 'all'], {
              additionalProperties: false,
            }),
          ],
        },
      },
    },
    {
      $ref: '#/$defs/f',
      $defs: {
        f: {
          oneOf: [
            obj({ op: { const: 'eq' }, v: S }, ['op', 'v'], { additionalProperties: false }),
            obj({ op: { const: 'and' }, all: arr({ $ref: '#/$defs/f' }) }, ['op', 'all'], {
              additionalProperties: false,
            }),
            obj({ op: { const: 'or' }, all: arr({ $ref: '#/$defs/f' }) }, ['op', 'all'], {
              additionalProperties: false,
            }),
          ],
        },
      },
    },
  ],
  [
    'recursive filter loses an operator',
    'breaking',
    {
      $ref: '#/$defs/f',
      $defs: {
        f: {
          oneOf: [
            obj({ op: { const: 'eq' } }, ['op']),
            obj({ op: { const: 'and' }, all: arr({ $ref: '#/$defs/f' }) }, ['op', 'all']),
          ],
        },
      },
    },
    {
      $ref: '#/$defs/f',
      $defs: {
        f: { oneOf: [obj({ op: { const: 'and' }, all: arr({ $ref: '#/$defs/f' }) }, ['op', 'all'])] },
      },
    },
  ],
  [
    'mutual recursion widened',
    'compatible',
    {
      $ref: '#/$defs/a',
      $defs: { a: obj({ b: { $ref: '#/$defs/b' }, n: I }), b: obj({ a: { $ref: '#/$defs/a' } }) },
    },
    {
      $ref: '#/$defs/a',
      $defs: { a: obj({ b: { $ref: '#/$defs/b' }, n: N }), b: obj({ a: { $ref: '#/$defs/a' } }) },
    },
  ],
  [
    'deep inside recursion narrowed',
    'breaking',
    {
      $ref: '#/$defs/a',
      $defs: { a: obj({ b: { $ref: '#/$defs/b' } }), b: obj({ a: { $ref: '#/$defs/a' }, n: N }) },
    },
    {
      $ref: '#/$defs/a',
      $defs: { a: obj({ b: { $ref: '#/$defs/b' } }), b: obj({ a: { $ref: '#/$defs/a' }, n: I }) },
    },
  ],
  [
    'allOf with ref base widened',
    'compatible',
    { allOf: [{ $ref: '#/$defs/base' }, obj({ x: I })], $defs: { base: obj({ id: S }, ['id']) } },
    { allOf: [{ $ref: '#/$defs/base' }, obj({ x: N })], $defs: { base: obj({ id: S }) } },
  ],
  [
    'if then const discriminators relaxed',
    'compatible',
    obj({ k: { enum: ['a', 'b'] }, v: S }, ['k'], {
      if: { properties: { k: { const: 'a' } } },
      then: { required: ['v'] },
    }),
    obj({ k: { enum: ['a', 'b'] }, v: S }, ['k']),
  ],
  [
    'if then else swapped',
    'breaking',
    obj({ k: { enum: ['a', 'b'] }, v: S, w: S }, ['k'], {
      if: { properties: { k: { const: 'a' } } },
      then: { required: ['v'] },
      else: { required: ['w'] },
    }),
    obj({ k: { enum: ['a', 'b'] }, v: S, w: S }, ['k'], {
      if: { properties: { k: { const: 'a' } } },
      then: { required: ['w'] },
      else: { required: ['v'] },
    }),
  ],
  [
    'enum numbers vs integer range',
    'compatible',
    obj({ n: { enum: [1, 2, 3] } }),
    obj({ n: { ...I, minimum: 1, maximum: 3 } }),
  ],
  [
    'integer range to enum',
    'breaking',
    obj({ n: { ...I, minimum: 1, maximum: 5 } }),
    obj({ n: { enum: [1, 2, 3] } }),
  ],
  [
    'integer range to enum of all of it',
    'compatible',
    obj({ n: { ...I, minimum: 1, maximum: 3 } }),
    obj({ n: { enum: [1, 2, 3] } }),
  ],
  [
    'multipleOf decimals',
    'breaking',
    obj({ n: { ...N, multipleOf: 0.1 } }),
    obj({ n: { ...N, multipleOf: 0.25 } }),
  ],
  [
    'contains widened',
    'compatible',
    obj({ l: { type: 'array', contains: { const: 1 } } }),
    obj({ l: { type: 'array', contains: N } }),
  ],
  [
    'propertyNames widened',
    'compatible',
    { type: 'object', propertyNames: { maxLength: 3 } },
    { type: 'object', propertyNames: { maxLength: 5 } },
  ],
  [
    'propertyNames narrowed',
    'breaking',
    { type: 'object', propertyNames: { maxLength: 5 } },
    { type: 'object', propertyNames: { maxLength: 3 } },
  ],
  [
    'dependentRequired to required',
    'breaking',
    obj({ a: S, b: S }, [], { dependentRequired: { a: ['b'] } }),
    obj({ a: S, b: S }, ['b']),
  ],
  [
    'closed by unevaluated with anyOf',
    'breaking',
    { anyOf: [obj({ a: S }), obj({ b: S })] },
    { anyOf: [obj({ a: S }), obj({ b: S })], unevaluatedProperties: false },
  ],
  [
    'string constraints merged in allOf',
    'compatible',
    obj({ s: { allOf: [{ ...S, minLength: 2 }, { maxLength: 5 }] } }),
    obj({ s: { ...S, minLength: 1, maxLength: 9 } }),
  ],
  [
    'number with not range',
    'breaking',
    obj({ n: N }),
    obj({ n: { ...N, not: { minimum: 10, maximum: 20 } } }),
  ],
  ['boolean schemas', 'compatible', obj({ x: false }), obj({ x: S })],
  [
    'const object widened',
    'compatible',
    obj({ c: { const: { a: 1, b: [1, 2] } } }),
    obj({ c: obj({ a: N, b: arr(N) }) }),
  ],
  [
    'const object rejected',
    'breaking',
    obj({ c: { const: { a: 1, b: [1, 2] } } }),
    obj({ c: obj({ a: N, b: arr(S) }) }),
  ],
  [
    'examples and deprecated',
    'compatible',
    obj({ a: { ...S, examples: ['x'] } }),
    obj({ a: { ...S, deprecated: true, readOnly: true } }),
  ],
  [
    'definitions unused changed',
    'compatible',
    { ...obj({ a: S }), $defs: { x: S } },
    { ...obj({ a: S }), $defs: { x: N } },
  ],
  ['required of undeclared member', 'breaking', obj({ a: S }), obj({ a: S }, ['z'])],
  ['minItems with items false', 'breaking', obj({ a: arr(S) }), obj({ a: { type: 'array', items: false } })],
  [
    'long pattern with alternatives narrowed',
    'breaking',
    obj({ s: { ...S, pattern: '^(get|put|post)$' } }),
    obj({ s: { ...S, pattern: '^(get|put)$' } }),
  ],
  [
    'pattern to enum',
    'breaking',
    obj({ s: { ...S, pattern: '^[a-d]$' } }),
    obj({ s: { enum: ['a', 'b', 'c'] } }),
  ],
  [
    'optional added, closed both, typed',
    'compatible',
    obj({ a: S }, ['a'], { additionalProperties: false }),
    obj({ a: S, o: obj({ x: N }, ['x']) }, ['a'], { additionalProperties: false }),
  ],
  [
    'two levels closed',
    'breaking',
    obj({ o: obj({ x: N }) }, [], { additionalProperties: false }),
    obj({ o: obj({ x: N }, [], { additionalProperties: false }) }, [], { additionalProperties: false }),
  ],
  [
    'oneOf integers and numbers',
    'breaking',
    obj({ n: { oneOf: [I, S] } }),
    obj({ n: { oneOf: [{ ...I, minimum: 0 }, S] } }),
  ],
  [
    '$ref with default sibling',
    'compatible',
    { ...obj({ a: { $ref: '#/$defs/x', default: 1 } }), $defs: { x: I } },
    { ...obj({ a: { $ref: '#/$defs/x', description: 'n' } }), $defs: { x: N } },
  ],
  [
    '2020 nested $ref in definitions',
    'breaking',
    { ...obj({ a: { $ref: '#/$defs/x' } }), $defs: { x: { $ref: '#/$defs/y' }, y: { enum: [1, 2] } } },
    { ...obj({ a: { $ref: '#/$defs/x' } }), $defs: { x: { $ref: '#/$defs/y' }, y: { enum: [1] } } },
  ],

  // a third set: identifiers, dynamic references, alternatives that divide values, formats, older drafts, mixed types

  // $ref
  [
    'ref through $id base',
    'compatible',
    { ...one({ $ref: 'point' }), $defs: { p: { $id: 'point', ...obj({ x: I }) } } },
    { ...one({ $ref: 'point' }), $defs: { p: { $id: 'point', ...obj({ x: N }) } } },
  ],
  [
    'ref through $id base narrowed',
    'breaking',
    { ...one({ $ref: 'point' }), $defs: { p: { $id: 'point', ...obj({ x: N }) } } },
    { ...one({ $ref: 'point' }), $defs: { p: { $id: 'point', ...obj({ x: I }) } } },
  ],
  [
    'ref with escaped pointer',
    'compatible',
    { ...one({ $ref: '#/$defs/a~1b' }), $defs: { 'a/b': I } },
    { ...one({ $ref: '#/$defs/c%25d' }), $defs: { 'c%d': N } },
  ],
  [
    'ref into properties',
    'breaking',
    obj({ x: N, y: { $ref: '#/properties/x' } }, ['y']),
    obj({ x: I, y: { $ref: '#/properties/x' } }, ['y']),
  ],
  [
    'chain of refs',
    'compatible',
    { ...one({ $ref: '#/$defs/a' }), $defs: { a: { $ref: '#/$defs/b' }, b: { $ref: '#/$defs/c' }, c: S } },
    one(S),
  ],
  [
    'recursive via items tightened leaf',
    'breaking',
    { $ref: '#/$defs/t', $defs: { t: { type: ['string', 'array'], items: { $ref: '#/$defs/t' } } } },
    {
      $ref: '#/$defs/t',
      $defs: { t: { type: ['string', 'array'], minLength: 1, items: { $ref: '#/$defs/t' } } },
    },
  ],
  [
    'recursion unrolled once',
    'compatible',
    { $ref: '#/$defs/t', $defs: { t: obj({ next: { $ref: '#/$defs/t' } }) } },
    obj({ next: { $ref: '#/$defs/t' } }, [], { $defs: { t: obj({ next: { $ref: '#/$defs/t' } }) } }),
  ],
  [
    'recursion to root #',
    'compatible',
    obj({ v: I, kids: arr({ $ref: '#' }) }),
    obj({ v: N, kids: arr({ $ref: '#' }) }),
  ],
  [
    'recursion to root # narrowed',
    'breaking',
    obj({ v: N, kids: arr({ $ref: '#' }) }),
    obj({ v: N, kids: arr({ $ref: '#' }, { maxItems: 2 }) }),
  ],
  [
    'recursion depth limited',
    'breaking',
    { $ref: '#/$defs/t', $defs: { t: obj({ n: { $ref: '#/$defs/t' } }, [], CLOSED) } },
    obj({ n: obj({ n: obj({}, [], CLOSED) }, [], CLOSED) }, [], CLOSED),
  ],
  [
    'depth limited to recursive',
    'compatible',
    obj({ n: obj({ n: obj({}, [], CLOSED) }, [], CLOSED) }, [], CLOSED),
    { $ref: '#/$defs/t', $defs: { t: obj({ n: { $ref: '#/$defs/t' } }, [], CLOSED) } },
  ],
  [
    'dynamicRef same',
    'compatible',
    {
      $dynamicRef: '#n',
      $defs: { n: { $dynamicAnchor: 'n', ...obj({ v: I, kids: arr({ $dynamicRef: '#n' }) }) } },
    },
    {
      $dynamicRef: '#n',
      $defs: { n: { $dynamicAnchor: 'n', ...obj({ v: I, kids: arr({ $dynamicRef: '#n' }) }) } },
      title: 'x',
    },
  ],
  // composition
  [
    'allOf flattened',
    'compatible',
    { allOf: [obj({ a: S }, ['a']), obj({ b: I }, ['b'])] },
    obj({ a: S, b: I }, ['a', 'b']),
  ],
  [
    'flat to allOf',
    'compatible',
    obj({ a: S, b: I }, ['a', 'b']),
    { allOf: [obj({ a: S }, ['a']), obj({ b: I }, ['b'])] },
  ],
  [
    'allOf gains one more',
    'breaking',
    { allOf: [obj({ a: S })] },
    { allOf: [obj({ a: S }), { maxProperties: 3 }] },
  ],
  [
    'anyOf distributes over object',
    'compatible',
    obj({ k: { anyOf: [{ const: 1 }, { const: 2 }] } }, ['k']),
    { anyOf: [obj({ k: { const: 1 } }, ['k']), obj({ k: { const: 2 } }, ['k'])] },
  ],
  [
    'anyOf of objects joined',
    'compatible',
    { anyOf: [obj({ k: { const: 1 } }, ['k']), obj({ k: { const: 2 } }, ['k'])] },
    obj({ k: { enum: [1, 2] } }, ['k']),
  ],
  [
    'oneOf overlapping loses',
    'breaking',
    one({
      oneOf: [
        { ...I, minimum: 0 },
        { ...I, maximum: 10 },
      ],
    }),
    one({
      oneOf: [
        { ...I, minimum: 0 },
        { ...I, maximum: -5 },
      ],
    }),
  ],
  [
    'oneOf by disjoint ranges',
    'compatible',
    one({
      anyOf: [
        { ...I, minimum: 10 },
        { ...I, maximum: 5 },
      ],
    }),
    one({
      oneOf: [
        { ...I, minimum: 10 },
        { ...I, maximum: 5 },
      ],
    }),
  ],
  ['not const dropped', 'compatible', one({ ...S, not: { const: '' } }), one(S)],
  [
    'not const kept as minLength',
    'compatible',
    one({ ...S, not: { const: '' } }),
    one({ ...S, minLength: 1 }),
  ],
  ['minLength to not empty', 'compatible', one({ ...S, minLength: 1 }), one({ ...S, not: { const: '' } })],
  [
    'not enum grew',
    'breaking',
    one({ ...S, not: { enum: ['x'] } }),
    one({ ...S, not: { enum: ['x', 'y'] } }),
  ],
  [
    'not type',
    'compatible',
    one({ not: { type: 'string' } }),
    one({ not: { type: 'string', minLength: 3 } }),
  ],
  ['double negation', 'compatible', one(I), one({ not: { not: N } })],
  [
    'nested anyOf flattened',
    'compatible',
    one({ anyOf: [S, { anyOf: [I, BOOL] }] }),
    one({ type: ['string', 'integer', 'boolean'] }),
  ],
  ['anyOf absorbs', 'compatible', one({ anyOf: [S, { ...S, maxLength: 3 }] }), one(S)],
  [
    'anyOf split by bound',
    'compatible',
    one(I),
    one({
      anyOf: [
        { ...I, minimum: 0 },
        { ...I, maximum: -1 },
      ],
    }),
  ],
  [
    'anyOf split leaves a hole',
    'breaking',
    one(I),
    one({
      anyOf: [
        { ...I, minimum: 1 },
        { ...I, maximum: -1 },
      ],
    }),
  ],
  [
    'discriminated union lost a case',
    'breaking',
    one({
      oneOf: [
        obj({ t: { const: 'text' }, text: S }, ['t', 'text']),
        obj({ t: { const: 'img' }, url: S }, ['t', 'url']),
        obj({ t: { const: 'ref' } }, ['t']),
      ],
    }),
    one({
      oneOf: [
        obj({ t: { const: 'text' }, text: S }, ['t', 'text']),
        obj({ t: { const: 'img' }, url: S }, ['t', 'url']),
      ],
    }),
  ],
  // unevaluated / additional
  [
    'unevaluated with ref widened',
    'compatible',
    {
      allOf: [{ $ref: '#/$defs/b' }],
      properties: { x: S },
      unevaluatedProperties: false,
      type: 'object',
      $defs: { b: obj({ id: I }) },
    },
    {
      allOf: [{ $ref: '#/$defs/b' }],
      properties: { x: S, y: S },
      unevaluatedProperties: false,
      type: 'object',
      $defs: { b: obj({ id: N }) },
    },
  ],
  [
    'unevaluated to additional',
    'compatible',
    { ...obj({ x: S }), unevaluatedProperties: false },
    obj({ x: S }, [], CLOSED),
  ],
  [
    'additional to unevaluated',
    'compatible',
    obj({ x: S }, [], CLOSED),
    { ...obj({ x: S }), unevaluatedProperties: false },
  ],
  [
    'unevaluated with if',
    'breaking',
    {
      type: 'object',
      properties: { k: S },
      if: { properties: { k: { const: 'a' } }, required: ['k'] },
      then: { properties: { v: S } },
    },
    {
      type: 'object',
      properties: { k: S },
      if: { properties: { k: { const: 'a' } }, required: ['k'] },
      then: { properties: { v: S } },
      unevaluatedProperties: false,
    },
  ],
  ['unevaluatedItems added', 'breaking', tup(S), { ...tup(S), unevaluatedItems: false }],
  ['unevaluatedItems removed', 'compatible', { ...tup(S), unevaluatedItems: false }, tup(S)],
  [
    'additionalProperties schema widened',
    'compatible',
    { type: 'object', additionalProperties: arr(I) },
    { type: 'object', additionalProperties: arr(N) },
  ],
  [
    'additionalProperties false with allOf breaks',
    'breaking',
    { allOf: [obj({ a: S })], properties: { b: S }, type: 'object' },
    { allOf: [obj({ a: S })], properties: { b: S }, type: 'object', ...CLOSED },
  ],
  [
    'additional moved into pattern',
    'compatible',
    { type: 'object', additionalProperties: S },
    { type: 'object', patternProperties: { '^x-': S }, additionalProperties: S },
  ],
  [
    'pattern keys narrowed',
    'breaking',
    { type: 'object', patternProperties: { '^x-': true }, ...CLOSED },
    { type: 'object', patternProperties: { '^x-a': true }, ...CLOSED },
  ],
  [
    'pattern value narrowed',
    'breaking',
    { type: 'object', patternProperties: { '^x-': N } },
    { type: 'object', patternProperties: { '^x-': I } },
  ],
  [
    'pattern value widened',
    'compatible',
    { type: 'object', patternProperties: { '^x-': I } },
    { type: 'object', patternProperties: { '^x-': N } },
  ],
  [
    'pattern removed from open',
    'compatible',
    { type: 'object', patternProperties: { '^x-': I } },
    { type: 'object' },
  ],
  [
    'property under pattern',
    'breaking',
    obj({ 'x-id': S }),
    { ...obj({ 'x-id': S }), patternProperties: { '^x-': { maxLength: 3 } } },
  ],
  [
    'closed, named by pattern',
    'compatible',
    obj({ 'x-id': S }, [], CLOSED),
    { type: 'object', patternProperties: { '^x-': S }, ...CLOSED },
  ],
  // formats
  ['date-time to time', 'breaking', one({ ...S, format: 'date-time' }), one({ ...S, format: 'time' })],
  ['email to idn-email', 'unknown', one({ ...S, format: 'email' }), one({ ...S, format: 'idn-email' })],
  ['ipv4 added', 'breaking', one(S), one({ ...S, format: 'ipv4' })],
  ['hostname added', 'breaking', one(S), one({ ...S, format: 'hostname' })],
  ['duration added', 'breaking', one(S), one({ ...S, format: 'duration' })],
  ['format on number ignored', 'compatible', one(N), one({ ...N, format: 'email' })],
  ['int32 added', 'breaking', one(I), one({ ...I, format: 'int32' })],
  [
    'format then anyOf',
    'compatible',
    one({ ...S, format: 'date' }),
    one({ anyOf: [{ ...S, format: 'date' }, B_NULL] }),
  ],
  [
    'uri to uri-reference',
    'compatible',
    one({ ...S, format: 'uri' }),
    one({ ...S, format: 'uri-reference' }),
  ],
  ['uri-reference to uri', 'breaking', one({ ...S, format: 'uri-reference' }), one({ ...S, format: 'uri' })],
  ['regex format added', 'breaking', one(S), one({ ...S, format: 'regex' })],
  ['json-pointer added', 'breaking', one(S), one({ ...S, format: 'json-pointer' })],
  [
    'contentEncoding is annotation',
    'compatible',
    one(S),
    one({ ...S, contentEncoding: 'base64', contentMediaType: 'image/png' }),
  ],
  // drafts
  [
    'draft4 id and required',
    'breaking',
    { $schema: D4, id: 'x', ...obj({ a: S }) },
    { $schema: D4, id: 'x', ...obj({ a: S }, ['a']) },
  ],
  [
    'draft4 exclusive flag dropped',
    'compatible',
    { $schema: D4, ...one({ ...N, maximum: 3, exclusiveMaximum: true }) },
    { $schema: D4, ...one({ ...N, maximum: 3 }) },
  ],
  ['draft6 const', 'breaking', { $schema: D6, ...one({}) }, { $schema: D6, ...one({ const: 1 }) }],
  [
    'draft6 contains',
    'breaking',
    { $schema: D6, ...one({ type: 'array' }) },
    { $schema: D6, ...one({ type: 'array', contains: I }) },
  ],
  [
    'draft7 if then',
    'breaking',
    { $schema: D7, ...obj({ k: S, v: S }) },
    { $schema: D7, ...obj({ k: S, v: S }), if: { required: ['k'] }, then: { required: ['v'] } },
  ],
  [
    'draft7 dependencies schema',
    'breaking',
    { $schema: D7, ...obj({ k: S, v: S }) },
    { $schema: D7, ...obj({ k: S, v: S }), dependencies: { k: { required: ['v'] } } },
  ],
  [
    'draft7 dependencies to 2020',
    'compatible',
    { $schema: D7, ...obj({ k: S, v: S }), dependencies: { k: ['v'] } },
    { $schema: D20, ...obj({ k: S, v: S }), dependentRequired: { k: ['v'] } },
  ],
  [
    '2019 recursiveRef',
    'breaking',
    { $schema: D19, ...one(S) },
    { $schema: D19, $recursiveAnchor: true, type: 'object', additionalProperties: { $recursiveRef: '#' } },
  ],
  [
    '2019 dependentSchemas',
    'breaking',
    { $schema: D19, ...obj({ a: S, b: S }) },
    {
      $schema: D19,
      ...obj({ a: S, b: S }),
      dependentSchemas: { a: { properties: { b: { minLength: 2 } } } },
    },
  ],
  [
    '2019 items array',
    'breaking',
    { $schema: D19, ...one({ type: 'array', items: [S], additionalItems: N }) },
    { $schema: D19, ...one({ type: 'array', items: [S], additionalItems: I }) },
  ],
  [
    '2019 minContains',
    'compatible',
    { $schema: D19, ...one({ type: 'array', contains: I, minContains: 3 }) },
    { $schema: D19, ...one({ type: 'array', contains: I, minContains: 2 }) },
  ],
  [
    'draft4 to draft7',
    'compatible',
    { $schema: D4, ...obj({ n: { ...I, minimum: 1 } }) },
    { $schema: D7, ...obj({ n: { ...I, minimum: 1 } }) },
  ],
  // contains
  [
    'maxContains added',
    'breaking',
    one(arr(N, { contains: I })),
    one(arr(N, { contains: I, maxContains: 2 })),
  ],
  [
    'maxContains raised',
    'compatible',
    one({ type: 'array', contains: I, maxContains: 2 }),
    one({ type: 'array', contains: I, maxContains: 4 }),
  ],
  [
    'minContains 0',
    'compatible',
    one({ type: 'array' }),
    one({ type: 'array', contains: I, minContains: 0 }),
  ],
  [
    'contains narrowed',
    'breaking',
    one({ type: 'array', contains: N }),
    one({ type: 'array', contains: { ...N, minimum: 5 } }),
  ],
  [
    'contains through prefix',
    'compatible',
    one({ type: 'array', prefixItems: [{ const: 'x' }], minItems: 1 }),
    one({ type: 'array', contains: S }),
  ],
  [
    'contains with maxContains same',
    'compatible',
    one({ type: 'array', contains: S, minContains: 2, maxContains: 3 }),
    one({ type: 'array', contains: S, maxContains: 3 }),
  ],
  // conditionals and dependents
  [
    'if/then removed else kept',
    'breaking',
    obj({ k: BOOL, v: S, w: S }, ['k'], {
      if: { properties: { k: { const: true } } },
      then: { required: ['v'] },
    }),
    obj({ k: BOOL, v: S, w: S }, ['k'], {
      if: { properties: { k: { const: true } } },
      then: { required: ['v'] },
      else: { required: ['w'] },
    }),
  ],
  ['if without then', 'compatible', obj({ k: S }), { ...obj({ k: S }), if: { required: ['k'] } }],
  [
    'if/then as anyOf',
    'compatible',
    obj({ k: BOOL, v: S }, ['k'], { if: { properties: { k: { const: true } } }, then: { required: ['v'] } }),
    obj({ k: BOOL, v: S }, ['k'], { anyOf: [{ properties: { k: { const: false } } }, { required: ['v'] }] }),
  ],
  [
    'dependentRequired added',
    'breaking',
    obj({ user: S, pass: S }),
    obj({ user: S, pass: S }, [], { dependentRequired: { user: ['pass'] } }),
  ],
  [
    'dependentRequired dropped',
    'compatible',
    obj({ user: S, pass: S }, [], { dependentRequired: { user: ['pass'] } }),
    obj({ user: S, pass: S }),
  ],
  [
    'required covers dependent',
    'compatible',
    obj({ user: S, pass: S }, ['pass']),
    obj({ user: S, pass: S }, ['pass'], { dependentRequired: { user: ['pass'] } }),
  ],
  [
    'dependentSchemas closed',
    'breaking',
    obj({ a: S, b: S, c: S }),
    obj({ a: S, b: S, c: S }, [], { dependentSchemas: { a: { properties: { c: false } } } }),
  ],
  [
    'nested if chain narrowed',
    'breaking',
    obj({ op: { enum: ['add', 'sub', 'div'] }, n: N }, ['op', 'n']),
    obj({ op: { enum: ['add', 'sub', 'div'] }, n: N }, ['op', 'n'], {
      allOf: [
        { if: { properties: { op: { const: 'div' } } }, then: { properties: { n: { not: { const: 0 } } } } },
      ],
    }),
  ],
  // tuples
  ['prefix grows typed on open', 'breaking', one(tup(S)), one(tup(S, I))],
  [
    'prefix closed grows',
    'compatible',
    one({ ...tup(S), items: false }),
    one({ ...tup(S, I), items: false }),
  ],
  ['prefix reorder', 'breaking', one({ ...tup(S, I), minItems: 2 }), one({ ...tup(I, S), minItems: 2 })],
  ['rest narrowed', 'breaking', one({ ...tup(S), items: N }), one({ ...tup(S), items: I })],
  [
    'list of 2 to tuple of same',
    'compatible',
    one(arr(I, { minItems: 2, maxItems: 2 })),
    one({ ...tup(N, N), items: false, minItems: 2 }),
  ],
  ['tuple unique', 'breaking', one(tup(I, I)), one({ ...tup(I, I), uniqueItems: true })],
  [
    'unique by distinct consts',
    'compatible',
    one({ ...tup({ const: 1 }, { const: 2 }), items: false }),
    one({ type: 'array', uniqueItems: true }),
  ],
  // const/enum mixed, ints
  ['enum mixed lost null', 'breaking', one({ enum: [1, 'a', null, true] }), one({ enum: [1, 'a', true] })],
  [
    'enum mixed to types',
    'compatible',
    one({ enum: [1, 'a', null, true] }),
    one({ type: ['integer', 'string', 'null', 'boolean'] }),
  ],
  ['enum 1 vs "1"', 'breaking', one({ enum: [1, 2] }), one({ enum: ['1', '2'] })],
  ['enum 1.0 equals 1', 'compatible', one({ enum: [1.0] }), one({ enum: [1] })],
  ['const array order', 'breaking', one({ const: [1, 2] }), one({ const: [2, 1] })],
  ['const object order', 'compatible', one({ const: { a: 1, b: 2 } }), one({ const: { b: 2, a: 1 } })],
  [
    'enum with type filter',
    'compatible',
    one({ type: 'string', enum: ['a', 1, null] }),
    one({ enum: ['a'] }),
  ],
  [
    'enum with type filter lost',
    'breaking',
    one({ enum: ['a', 1] }),
    one({ type: 'string', enum: ['a', 1] }),
  ],
  ['integer multipleOf fraction', 'compatible', one(I), one({ ...N, multipleOf: 0.5 })],
  ['number multipleOf .5 to integer', 'breaking', one({ ...N, multipleOf: 0.5 }), one(I)],
  [
    'integer exclusive equals inclusive',
    'compatible',
    one({ ...I, minimum: 1 }),
    one({ ...I, exclusiveMinimum: 0 }),
  ],
  ['integer fractional bound', 'compatible', one({ ...I, minimum: 1 }), one({ ...I, minimum: 0.5 })],
  [
    'number exclusive vs inclusive',
    'breaking',
    one({ ...N, minimum: 1 }),
    one({ ...N, exclusiveMinimum: 1 }),
  ],
  [
    'integer or string to number or string',
    'compatible',
    one({ type: ['integer', 'string'] }),
    one({ type: ['number', 'string'] }),
  ],
  ['huge bound', 'breaking', one({ ...I, maximum: 9007199254740991 }), one({ ...I, maximum: 2147483647 })],
  ['negative zero and float bound', 'breaking', one({ ...N, minimum: -0.001 }), one({ ...N, minimum: 0 })],
  ['empty range stays safe', 'compatible', one({ ...I, minimum: 5, maximum: 4 }), one(S)],
  [
    'true to everything typed',
    'breaking',
    one(true),
    one({ type: ['string', 'number', 'object', 'array', 'boolean'] }),
  ],
  [
    'all types listed',
    'compatible',
    one(true),
    one({ type: ['string', 'number', 'object', 'array', 'boolean', 'null'] }),
  ],
  ['empty enum-like false', 'compatible', one({ not: {} }), one(S)],
  // nullable and defaults
  [
    'default narrows nothing',
    'compatible',
    obj({ a: { ...S, default: 'x' } }, ['a']),
    obj({ a: { ...S, default: 5 } }, ['a']),
  ],
  [
    'optional null dropped',
    'breaking',
    obj({ a: { type: ['integer', 'null'], default: null } }),
    obj({ a: { ...I, default: 0 } }),
  ],
  [
    'null from anyOf to oneOf',
    'compatible',
    obj({ a: { anyOf: [I, B_NULL] } }),
    obj({ a: { oneOf: [I, B_NULL] } }),
  ],
  [
    'nullable enum lost null type',
    'breaking',
    obj({ a: { type: ['string', 'null'], enum: ['x', null] } }),
    obj({ a: { type: 'string', enum: ['x', null] } }),
  ],
  [
    'optional with default became required',
    'breaking',
    obj({ a: { ...S, default: 'x' } }),
    obj({ a: { ...S, default: 'x' } }, ['a']),
  ],
  // counts
  ['minProperties added', 'breaking', obj({ a: S, b: S }), obj({ a: S, b: S }, [], { minProperties: 1 })],
  ['minProperties implied', 'compatible', obj({ a: S }, ['a']), obj({ a: S }, ['a'], { minProperties: 1 })],
  [
    'maxProperties implied',
    'compatible',
    obj({ a: S, b: S }, [], CLOSED),
    obj({ a: S, b: S }, [], { maxProperties: 2, ...CLOSED }),
  ],
  [
    'maxProperties lowered',
    'breaking',
    { type: 'object', maxProperties: 9 },
    { type: 'object', maxProperties: 8 },
  ],
  [
    'propertyNames enum',
    'breaking',
    { type: 'object' },
    { type: 'object', propertyNames: { enum: ['a', 'b'] } },
  ],
  [
    'propertyNames to closed',
    'compatible',
    { type: 'object', propertyNames: { enum: ['a', 'b'] } },
    obj({ a: {}, b: {} }, [], CLOSED),
  ],
  [
    'closed to propertyNames',
    'compatible',
    obj({ a: {}, b: {} }, [], CLOSED),
    { type: 'object', propertyNames: { enum: ['a', 'b'] } },
  ],
  [
    'propertyNames pattern',
    'breaking',
    { type: 'object', propertyNames: { pattern: '^[a-z_]+$' } },
    { type: 'object', propertyNames: { pattern: '^[a-z]+$' } },
  ],
  // strings
  [
    'pattern with unicode class narrowed',
    'breaking',
    one({ ...S, pattern: '^\\p{L}+$' }),
    one({ ...S, pattern: '^[A-Za-z]+$' }),
  ],
  [
    'pattern from const list',
    'compatible',
    one({ enum: ['GET', 'PUT'] }),
    one({ ...S, pattern: '^[A-Z]+$' }),
  ],
  [
    'pattern unanchored to anchored',
    'breaking',
    one({ ...S, pattern: 'abc' }),
    one({ ...S, pattern: '^abc' }),
  ],
  [
    'pattern quantifier lowered',
    'breaking',
    one({ ...S, pattern: '^[0-9a-f]{1,40}$' }),
    one({ ...S, pattern: '^[0-9a-f]{1,32}$' }),
  ],
  [
    'semver pattern made strict',
    'breaking',
    one({ ...S, pattern: '^\\d+\\.\\d+(\\.\\d+)?$' }),
    one({ ...S, pattern: '^\\d+\\.\\d+\\.\\d+$' }),
  ],
  ['pattern plus lookahead', 'breaking', one(S), one({ ...S, pattern: '^(?!\\.)[^/]+$' })],
  [
    'pattern needs letters and digits',
    'breaking',
    one({ ...S, minLength: 8 }),
    one({ ...S, minLength: 8, pattern: '(?=.*[0-9])(?=.*[a-z])' }),
  ],
  [
    'exact length',
    'breaking',
    one({ ...S, minLength: 2, maxLength: 3 }),
    one({ ...S, minLength: 2, maxLength: 2 }),
  ],
  ['long minimum length', 'breaking', one({ ...S, minLength: 1000 }), one({ ...S, minLength: 2000 })],
  ['length counts code points', 'breaking', one({ ...S, maxLength: 2 }), one({ ...S, maxLength: 1 })],
  [
    'pattern equal plus maxLength',
    'breaking',
    one({ ...S, pattern: '^\\w+@\\w+$' }),
    one({ ...S, pattern: '^\\w+@\\w+$', maxLength: 12 }),
  ],
  // whole tools
  [
    'filter tool sort enum widened and limit',
    'compatible',
    obj({ q: S, sort: { enum: ['asc', 'desc'] }, limit: { ...I, minimum: 1, maximum: 50 } }, ['q'], CLOSED),
    obj(
      { q: S, sort: { enum: ['asc', 'desc', 'rank'] }, limit: { ...I, minimum: 1, maximum: 100 }, cursor: S },
      ['q'],
      CLOSED,
    ),
  ],
  [
    'zod to pydantic spelling',
    'compatible',
    { $schema: D7, ...obj({ n: I, s: S }, ['n'], CLOSED) },
    obj({ n: { ...I, title: 'N' }, s: { anyOf: [S, B_NULL], default: null, title: 'S' } }, ['n'], {
      title: 'Args',
    }),
  ],
  [
    'pydantic optional to required',
    'breaking',
    obj({ n: { anyOf: [I, B_NULL], default: null } }),
    obj({ n: { anyOf: [I, B_NULL] } }, ['n']),
  ],
  [
    'edits array gains required field',
    'breaking',
    obj({ path: S, edits: arr(obj({ oldText: S, newText: S }, ['oldText', 'newText'], CLOSED)) }, [
      'path',
      'edits',
    ]),
    obj(
      { path: S, edits: arr(obj({ oldText: S, newText: S, at: I }, ['oldText', 'newText', 'at'], CLOSED)) },
      ['path', 'edits'],
    ),
  ],
  [
    'edits array gains optional field',
    'compatible',
    obj({ path: S, edits: arr(obj({ oldText: S, newText: S }, ['oldText', 'newText'], CLOSED)) }, [
      'path',
      'edits',
    ]),
    obj({ path: S, edits: arr(obj({ oldText: S, newText: S, at: I }, ['oldText', 'newText'], CLOSED)) }, [
      'path',
      'edits',
    ]),
  ],
  [
    'deep graph recursion with enum',
    'breaking',
    {
      ...obj({ root: { $ref: '#/$defs/e' } }),
      $defs: {
        e: {
          oneOf: [
            obj({ lit: N }, ['lit'], CLOSED),
            obj(
              { op: { enum: ['+', '-'] }, l: { $ref: '#/$defs/e' }, r: { $ref: '#/$defs/e' } },
              ['op', 'l', 'r'],
              CLOSED,
            ),
          ],
        },
      },
    },
    {
      ...obj({ root: { $ref: '#/$defs/e' } }),
      $defs: {
        e: {
          oneOf: [
            obj({ lit: N }, ['lit'], CLOSED),
            obj(
              { op: { enum: ['+'] }, l: { $ref: '#/$defs/e' }, r: { $ref: '#/$defs/e' } },
              ['op', 'l', 'r'],
              CLOSED,
            ),
          ],
        },
      },
    },
  ],
  [
    'many properties one changed',
    'breaking',
    obj(Object.fromEntries(Array.from({ length: 60 }, (_, i) => ['p' + i, S]))),
    obj(
      Object.fromEntries(
        Array.from({ length: 60 }, (_, i) => ['p' + i, i === 47 ? { ...S, maxLength: 200 } : S]),
      ),
    ),
  ],
  [
    'dates with range pattern',
    'breaking',
    obj({ from: { ...S, pattern: '^\\d{4}-\\d{2}-\\d{2}$' } }),
    obj({ from: { ...S, pattern: '^\\d{4}-\\d{2}-\\d{2}T\\d{2}:\\d{2}B_NULL$' } }),
  ],
  [
    '$comment and x title',
    'compatible',
    obj({ a: { ...S, $comment: 'hello' } }),
    obj({ a: { ...S, $comment: 'bye', examples: ['q'], writeOnly: true } }),
  ],
  [
    'boolean to boolean or string',
    'compatible',
    obj({ a: BOOL }),
    obj({ a: { type: ['boolean', 'string'] } }),
  ],
  [
    'boolean true only',
    'breaking',
    obj({ confirm: BOOL }, ['confirm']),
    obj({ confirm: { const: true } }, ['confirm']),
  ],
  ['vendor keyword removed', 'compatible', one({ ...S, maxLength: 5 }), one(S)],
  // a set that was written last, without a look at the others or at the code
  [
    'optional argument becomes required',
    'breaking',
    object({ q: S, lang: S }, ['q']),
    object({ q: S, lang: S }, ['q', 'lang']),
  ],
  [
    'required argument with a default',
    'breaking',
    object({ q: S }, ['q']),
    object({ q: S, limit: { type: 'integer', default: 10 } }, ['q', 'limit']),
  ],
  [
    'optional argument in an open object',
    'breaking',
    object({ q: S }, ['q']),
    object({ q: S, limit: I }, ['q']),
  ],
  [
    'optional argument of any type in an open object',
    'compatible',
    object({ q: S }, ['q']),
    object({ q: S, extra: {} }, ['q']),
  ],
  [
    'optional argument in a closed object',
    'compatible',
    object({ q: S }, ['q'], { additionalProperties: false }),
    object({ q: S, limit: I }, ['q'], { additionalProperties: false }),
  ],
  [
    'argument renamed in a closed object',
    'breaking',
    object({ query: S }, ['query'], { additionalProperties: false }),
    object({ q: S }, ['q'], { additionalProperties: false }),
  ],
  [
    'object closed',
    'breaking',
    object({ q: S }, ['q']),
    object({ q: S }, ['q'], { additionalProperties: false }),
  ],
  [
    'object opened',
    'compatible',
    object({ q: S }, ['q'], { additionalProperties: false }),
    object({ q: S }, ['q']),
  ],
  ['required dropped', 'compatible', object({ q: S, n: N }, ['q', 'n']), object({ q: S, n: N }, ['q'])],
  [
    'string to string or list',
    'compatible',
    object({ to: S }, ['to']),
    object({ to: { anyOf: [S, { type: 'array', items: S }] } }, ['to']),
  ],
  [
    'string to list of strings',
    'breaking',
    object({ to: S }, ['to']),
    object({ to: { type: 'array', items: S } }, ['to']),
  ],
  ['integer to number', 'compatible', object({ n: I }), object({ n: N })],
  ['number to integer', 'breaking', object({ n: N }), object({ n: I })],
  [
    'pydantic optional: null dropped',
    'breaking',
    object({ a: { anyOf: [S, { type: 'null' }], default: null } }),
    object({ a: { type: 'string', default: '' } }),
  ],
  [
    'pydantic optional: null added',
    'compatible',
    object({ a: { type: 'string', title: 'A' } }, ['a']),
    object({ a: { anyOf: [S, { type: 'null' }], title: 'A', default: null } }),
  ],
  [
    'enum member removed inside of an array inside of an anyOf',
    'breaking',
    object({ f: { anyOf: [{ type: 'array', items: { enum: ['a', 'b', 'c'] } }, { type: 'null' }] } }),
    object({ f: { anyOf: [{ type: 'array', items: { enum: ['a', 'b'] } }, { type: 'null' }] } }),
  ],
  [
    'enum to pattern that matches all members',
    'compatible',
    { enum: ['a1', 'b2', 'c3'] },
    { type: 'string', pattern: '^[a-c]\\d$' },
  ],
  [
    'enum to pattern that misses one',
    'breaking',
    { enum: ['a1', 'b2', 'd3'] },
    { type: 'string', pattern: '^[a-c]\\d$' },
  ],
  ['const to enum', 'compatible', { const: 'x' }, { enum: ['x', 'y'] }],
  ['enum of numbers 1 and 1.0', 'compatible', { enum: [1, 2] }, { enum: [1.0, 2.0, 3] }],
  [
    'type list reordered and duplicated by anyOf',
    'compatible',
    { type: ['string', 'null'] },
    { anyOf: [{ type: 'null' }, { type: 'string' }] },
  ],
  [
    'oneOf of overlapping types',
    'breaking',
    { type: 'integer' },
    { oneOf: [{ type: 'integer' }, { type: 'number' }] },
  ],
  [
    'oneOf with disjoint constants',
    'compatible',
    { anyOf: [object({ k: { const: 'a' }, x: S }, ['k']), object({ k: { const: 'b' }, y: N }, ['k'])] },
    {
      oneOf: [
        object({ k: { const: 'a' }, x: S }, ['k']),
        object({ k: { const: 'b' }, y: N }, ['k']),
        object({ k: { const: 'c' } }, ['k']),
      ],
    },
  ],
  [
    'discriminated union loses a member',
    'breaking',
    { oneOf: [object({ k: { const: 'a' } }, ['k']), object({ k: { const: 'b' } }, ['k'])] },
    { oneOf: [object({ k: { const: 'a' } }, ['k'])] },
  ],
  [
    'discriminator no longer required',
    'breaking',
    { oneOf: [object({ k: { const: 'a' } }, ['k']), object({ k: { const: 'b' } }, ['k'])] },
    { oneOf: [object({ k: { const: 'a' } }), object({ k: { const: 'b' } })], required: ['z'] },
  ],
  [
    'maximum lowered to where integers do not notice',
    'compatible',
    { type: 'integer', maximum: 10.5 },
    { type: 'integer', maximum: 10 },
  ],
  [
    'exclusive bound equals inclusive for integers',
    'compatible',
    { type: 'integer', minimum: 1 },
    { type: 'integer', exclusiveMinimum: 0 },
  ],
  [
    'exclusive bound differs for numbers',
    'breaking',
    { type: 'number', minimum: 1 },
    { type: 'number', exclusiveMinimum: 1 },
  ],
  ['multipleOf 4 to 2', 'compatible', { type: 'integer', multipleOf: 4 }, { type: 'integer', multipleOf: 2 }],
  [
    'multipleOf 4 and 6 to 12',
    'compatible',
    { allOf: [{ type: 'integer', multipleOf: 4 }, { multipleOf: 6 }] },
    { type: 'integer', multipleOf: 12 },
  ],
  ['multipleOf 0.5 to 1', 'breaking', { type: 'number', multipleOf: 0.5 }, { type: 'number', multipleOf: 1 }],
  [
    'bounds by a small range: 3 to 5 in enum',
    'compatible',
    { type: 'integer', minimum: 3, maximum: 5 },
    { enum: [3, 4, 5, 6] },
  ],
  [
    'bounds by a small range: 2 to 5 in enum',
    'breaking',
    { type: 'integer', minimum: 2, maximum: 5 },
    { enum: [3, 4, 5, 6] },
  ],
  [
    'limit where only strings are meant',
    'compatible',
    { type: 'string', maxLength: 10 },
    { type: 'string', maxLength: 10, maximum: 5 },
  ],
  [
    'minLength 1 from pattern',
    'compatible',
    { type: 'string', pattern: '^.+$' },
    { type: 'string', minLength: 1 },
  ],
  [
    'anchored pattern widened',
    'compatible',
    { type: 'string', pattern: '^[a-z]{3}$' },
    { type: 'string', pattern: '^[a-z]{2,4}$' },
  ],
  [
    'anchored pattern narrowed',
    'breaking',
    { type: 'string', pattern: '^[a-z]{2,4}$' },
    { type: 'string', pattern: '^[a-z]{3}$' },
  ],
  [
    'pattern gets an anchor',
    'breaking',
    { type: 'string', pattern: 'foo' },
    { type: 'string', pattern: '^foo' },
  ],
  ['format email removed', 'compatible', { type: 'string', format: 'email' }, S],
  ['format email added', 'breaking', S, { type: 'string', format: 'email' }],
  [
    'format date to date-time',
    'breaking',
    { type: 'string', format: 'date' },
    { type: 'string', format: 'date-time' },
  ],
  ['unknown format added', 'unknown', S, { type: 'string', format: 'phone-number-e164' }],
  ['unknown format removed', 'unknown', { type: 'string', format: 'phone-number-e164' }, S],
  ['maxLength lowered', 'breaking', { type: 'string', maxLength: 500 }, { type: 'string', maxLength: 200 }],
  ['maxLength counts code points', 'compatible', { enum: ['😀😀'] }, { type: 'string', maxLength: 2 }],
  [
    'inline to $ref',
    'compatible',
    object({ a: object({ id: S }, ['id']) }),
    { ...object({ a: { $ref: '#/$defs/A' } }), $defs: { A: object({ id: S }, ['id']) } },
  ],
  [
    '$ref with a narrower sibling',
    'breaking',
    { ...object({ a: { $ref: '#/$defs/A' } }), $defs: { A: S } },
    { ...object({ a: { $ref: '#/$defs/A', maxLength: 3 } }), $defs: { A: S } },
  ],
  [
    'recursive tree: another optional closed leaf',
    'compatible',
    {
      $defs: {
        T: object({ v: S, kids: { type: 'array', items: { $ref: '#/$defs/T' } } }, ['v'], {
          additionalProperties: false,
        }),
      },
      $ref: '#/$defs/T',
    },
    {
      $defs: {
        T: object(
          { v: { type: ['string', 'number'] }, kids: { type: 'array', items: { $ref: '#/$defs/T' } } },
          ['v'],
          { additionalProperties: false },
        ),
      },
      $ref: '#/$defs/T',
    },
  ],
  [
    'recursive tree: at most two kids',
    'breaking',
    { $defs: { T: object({ kids: { type: 'array', items: { $ref: '#/$defs/T' } } }) }, $ref: '#/$defs/T' },
    {
      $defs: { T: object({ kids: { type: 'array', maxItems: 2, items: { $ref: '#/$defs/T' } } }) },
      $ref: '#/$defs/T',
    },
  ],
  [
    'recursion by # to recursion by a name',
    'compatible',
    object({ next: { anyOf: [{ $ref: '#' }, { type: 'null' }] } }),
    {
      $defs: { L: object({ next: { anyOf: [{ $ref: '#/$defs/L' }, { type: 'null' }] } }) },
      $ref: '#/$defs/L',
    },
  ],
  [
    'mutual recursion unrolled once',
    'compatible',
    {
      $ref: '#/$defs/A',
      $defs: { A: object({ b: { $ref: '#/$defs/B' } }), B: object({ a: { $ref: '#/$defs/A' } }) },
    },
    { ...object({ b: object({ a: { $ref: '#' } }) }) },
  ],
  [
    'mutual recursion loses depth',
    'breaking',
    {
      $ref: '#/$defs/A',
      $defs: { A: object({ b: { $ref: '#/$defs/B' } }), B: object({ a: { $ref: '#/$defs/A' } }) },
    },
    object({ b: object({ a: { type: 'null' } }) }),
  ],
  [
    '$ref to another document',
    'unknown',
    object({ a: { $ref: 'https://example.com/a.json' } }),
    object({ a: { $ref: 'https://example.com/b.json' } }),
  ],
  ['$anchor', 'compatible', { $ref: '#thing', $defs: { x: { $anchor: 'thing', ...I } } }, N],
  [
    '$ref into properties',
    'breaking',
    object({ a: I, b: { $ref: '#/properties/a' } }),
    object({ a: I, b: { $ref: '#/properties/c' }, c: S }, undefined),
  ],
  ['escaped pointer', 'compatible', { $ref: '#/$defs/a~1b%20c', $defs: { 'a/b c': { enum: [1] } } }, I],
  [
    '2019-09 recursiveRef',
    'breaking',
    {
      $schema: 'https://json-schema.org/draft/2019-09/schema',
      $recursiveAnchor: true,
      ...object({ kid: { $recursiveRef: '#' } }),
    },
    {
      $schema: 'https://json-schema.org/draft/2019-09/schema',
      $recursiveAnchor: true,
      ...object({ kid: { $recursiveRef: '#' } }, ['kid']),
    },
  ],
  [
    'draft-04 exclusiveMinimum: true',
    'breaking',
    { $schema: 'http://json-schema.org/draft-04/schema#', type: 'integer', minimum: 0 },
    {
      $schema: 'http://json-schema.org/draft-04/schema#',
      type: 'integer',
      minimum: 0,
      exclusiveMinimum: true,
    },
  ],
  [
    'draft-04 to 2020-12, the same meaning',
    'compatible',
    {
      $schema: 'http://json-schema.org/draft-04/schema#',
      type: 'number',
      minimum: 0,
      exclusiveMinimum: true,
    },
    { type: 'number', exclusiveMinimum: 0 },
  ],
  [
    'draft-07 tuple to prefixItems',
    'compatible',
    {
      $schema: 'http://json-schema.org/draft-07/schema#',
      type: 'array',
      items: [S, N],
      additionalItems: false,
    },
    { type: 'array', prefixItems: [S, N], items: false },
  ],
  [
    'draft-07 tuple without additionalItems to a closed one',
    'breaking',
    { $schema: 'http://json-schema.org/draft-07/schema#', type: 'array', items: [S, N] },
    { type: 'array', prefixItems: [S, N], items: false },
  ],
  [
    'draft-07 dependencies to dependentRequired',
    'compatible',
    {
      $schema: 'http://json-schema.org/draft-07/schema#',
      ...object({ a: S, b: S }),
      dependencies: { a: ['b'] },
    },
    { ...object({ a: S, b: S }), dependentRequired: { a: ['b'] } },
  ],
  [
    'dependentRequired added',
    'breaking',
    object({ a: S, b: S }),
    { ...object({ a: S, b: S }), dependentRequired: { a: ['b'] } },
  ],
  [
    'dialect that nobody knows',
    'unknown',
    { $schema: 'https://example.com/dialect', type: 'string' },
    { $schema: 'https://example.com/dialect', type: 'number' },
  ],
  [
    'draft-06 const narrowed to nothing else',
    'breaking',
    { $schema: 'http://json-schema.org/draft-06/schema#', ...object({ v: {} }) },
    { $schema: 'http://json-schema.org/draft-06/schema#', ...object({ v: { const: 1 } }) },
  ],
  [
    'allOf merged by hand',
    'compatible',
    { allOf: [object({ a: S }, ['a']), object({ b: N }, ['b'])] },
    object({ a: S, b: N }, ['a', 'b']),
  ],
  [
    'split into allOf',
    'compatible',
    object({ a: S, b: N }, ['a', 'b']),
    { allOf: [object({ a: S }, ['a']), object({ b: N }, ['b'])] },
  ],
  [
    'allOf with additionalProperties:false in each half',
    'breaking',
    object({ a: S, b: N }, ['a'], { additionalProperties: false }),
    {
      allOf: [
        object({ a: S }, ['a'], { additionalProperties: false }),
        object({ b: N }, undefined, { additionalProperties: false }),
      ],
    },
  ],
  [
    'unevaluatedProperties across allOf',
    'compatible',
    { allOf: [object({ a: S }), object({ b: N })], unevaluatedProperties: false },
    object({ a: S, b: N }, undefined, { additionalProperties: false }),
  ],
  [
    'unevaluatedProperties added',
    'breaking',
    { allOf: [object({ a: S }), object({ b: N })] },
    { allOf: [object({ a: S }), object({ b: N })], unevaluatedProperties: false },
  ],
  [
    'unevaluatedProperties with anyOf',
    'compatible',
    {
      anyOf: [
        object({ a: S }, ['a'], { additionalProperties: false }),
        object({ b: N }, ['b'], { additionalProperties: false }),
      ],
    },
    { anyOf: [object({ a: S }, ['a']), object({ b: N }, ['b'])], unevaluatedProperties: false },
  ],
  ['not: a value excluded', 'breaking', S, { type: 'string', not: { const: 'admin' } }],
  [
    'not: excluded value was never valid',
    'compatible',
    { type: 'string', maxLength: 3 },
    { type: 'string', not: { const: 'admin' } },
  ],
  ['not not', 'compatible', S, { not: { not: S } }],
  [
    'if then else to oneOf',
    'compatible',
    {
      ...object({ k: { enum: ['a', 'b'] }, x: {} }, ['k']),
      if: { properties: { k: { const: 'a' } } },
      then: { properties: { x: S } },
      else: { properties: { x: N } },
    },
    { anyOf: [object({ k: { const: 'a' }, x: S }), object({ k: { const: 'b' }, x: N })] },
  ],
  [
    'if then added',
    'breaking',
    object({ mode: S, path: S }),
    {
      ...object({ mode: S, path: S }),
      if: { properties: { mode: { const: 'file' } }, required: ['mode'] },
      then: { required: ['path'] },
    },
  ],
  ['if without then or else', 'compatible', S, { type: 'string', if: { const: 'x' } }],
  [
    'dependentSchemas added',
    'breaking',
    object({ card: S, address: S }),
    { ...object({ card: S, address: S }), dependentSchemas: { card: { required: ['address'] } } },
  ],
  [
    'array gets uniqueItems',
    'breaking',
    { type: 'array', items: S },
    { type: 'array', items: S, uniqueItems: true },
  ],
  [
    'uniqueItems where at most one item is possible',
    'compatible',
    { type: 'array', items: S, maxItems: 1 },
    { type: 'array', items: S, uniqueItems: true },
  ],
  [
    'contains added',
    'breaking',
    { type: 'array', items: S },
    { type: 'array', items: S, contains: { const: 'x' } },
  ],
  [
    'contains that minItems implies',
    'compatible',
    { type: 'array', items: S, minItems: 1 },
    { type: 'array', items: S, contains: S },
  ],
  [
    'minContains 0',
    'compatible',
    { type: 'array', items: S },
    { type: 'array', items: S, contains: { const: 'x' }, minContains: 0 },
  ],
  [
    'maxContains',
    'breaking',
    { type: 'array', items: I },
    { type: 'array', items: I, contains: { minimum: 5 }, minContains: 0, maxContains: 2 },
  ],
  ['minItems raised', 'breaking', { type: 'array', minItems: 1 }, { type: 'array', minItems: 2 }],
  [
    'prefixItems get a third',
    'breaking',
    { type: 'array', prefixItems: [S, S] },
    { type: 'array', prefixItems: [S, S, N] },
  ],
  [
    'a list of two by minItems and maxItems to a tuple',
    'compatible',
    { type: 'array', items: N, minItems: 2, maxItems: 2 },
    { type: 'array', prefixItems: [N, N], minItems: 2, items: false },
  ],
  [
    'map values narrowed',
    'breaking',
    { type: 'object', additionalProperties: { type: ['string', 'number'] } },
    { type: 'object', additionalProperties: S },
  ],
  [
    'pattern properties to additionalProperties',
    'compatible',
    { type: 'object', patternProperties: { '^x-': S }, additionalProperties: false },
    { type: 'object', additionalProperties: S },
  ],
  [
    'additionalProperties to pattern properties',
    'breaking',
    { type: 'object', additionalProperties: S },
    { type: 'object', patternProperties: { '^x-': S }, additionalProperties: false },
  ],
  [
    'propertyNames added',
    'breaking',
    { type: 'object', additionalProperties: N },
    { type: 'object', additionalProperties: N, propertyNames: { maxLength: 8 } },
  ],
  [
    'propertyNames enumerates the closed names',
    'compatible',
    object({ a: S, b: S }, undefined, { additionalProperties: false }),
    { type: 'object', propertyNames: { enum: ['a', 'b', 'c'] } },
  ],
  [
    'minProperties from required',
    'compatible',
    object({ a: S, b: S }, ['a', 'b']),
    { type: 'object', minProperties: 2 },
  ],
  [
    'maxProperties from closed names',
    'compatible',
    object({ a: S, b: S }, undefined, { additionalProperties: false }),
    { type: 'object', maxProperties: 2 },
  ],
  ['impossible member', 'compatible', object({ a: { allOf: [S, N] } }), object({ a: { type: 'boolean' } })],
  ['__proto__ as a member name', 'breaking', object({ ['__proto__x']: S }), object({ ['__proto__x']: N })],
  [
    'member named constructor',
    'breaking',
    object({ constructor: S }),
    object({ constructor: S }, ['constructor']),
  ],
  [
    'member named toString is fine',
    'compatible',
    object({ toString: S }, ['toString']),
    object({ toString: S }),
  ],
  ['true to {}', 'compatible', true, {}],
  ['{} to object', 'breaking', {}, { type: 'object' }],
  ['false to anything', 'compatible', false, S],
  [
    'empty object schema to itself with title',
    'compatible',
    { type: 'object' },
    { type: 'object', title: 'Nothing', properties: {} },
  ],
  [
    'no longer satisfiable',
    'breaking',
    object({ a: S }),
    object({ a: S }, ['a'], { properties: { a: false } }),
  ],
  [
    'deep path',
    'breaking',
    object({
      a: object({ b: { type: 'array', items: object({ c: object({ d: { enum: ['x', 'y'] } }) }) } }),
    }),
    object({ a: object({ b: { type: 'array', items: object({ c: object({ d: { enum: ['x'] } }) }) } }) }),
  ],
  [
    'unknown keyword on both sides, same part',
    'compatible',
    object({ a: { type: 'string', 'x-ui': 'wide' } }, ['a']),
    object({ a: { type: 'string', 'x-ui': 'wide' } }),
  ],
  [
    'unknown keyword added',
    'unknown',
    object({ a: S }),
    object({ a: { type: 'string', 'x-validate': 'luhn' } }),
  ],
  ['contentEncoding is an annotation', 'compatible', S, { type: 'string', contentEncoding: 'base64' }],
  [
    '$comment, examples, deprecated',
    'compatible',
    object({ a: S }),
    object({ a: { ...S, $comment: 'x', examples: ['y'], deprecated: true } }),
  ],
  ['required of a name without schema', 'breaking', object({ a: S }), object({ a: S }, ['token'])],
  [
    'dynamicRef recursion',
    'breaking',
    { $dynamicAnchor: 'node', ...object({ kid: { $dynamicRef: '#node' } }) },
    { $dynamicAnchor: 'node', ...object({ kid: { $dynamicRef: '#node' }, v: I }, ['v']) },
  ],
  ['enum with objects', 'breaking', { enum: [{ a: 1 }, { b: [1, 2] }] }, { enum: [{ a: 1 }] }],
  [
    'enum with objects in another order of members',
    'compatible',
    { enum: [{ a: 1, b: 2 }] },
    { enum: [{ b: 2, a: 1 }] },
  ],
  ['string enum on integers by type', 'compatible', { type: 'integer', enum: [1, 'a', 2.5] }, { const: 1 }],
  ['anyOf order and a duplicate', 'compatible', { anyOf: [S, N, BOOL] }, { anyOf: [BOOL, N, N, S] }],
  [
    'three-way anyOf covers number line',
    'compatible',
    { type: 'number' },
    {
      anyOf: [
        { type: 'number', maximum: 0 },
        { type: 'number', minimum: 0 },
      ],
    },
  ],
  [
    'number line with a hole',
    'breaking',
    { type: 'number' },
    {
      anyOf: [
        { type: 'number', maximum: 0 },
        { type: 'number', exclusiveMinimum: 0.5 },
      ],
    },
  ],
  [
    'lengths with a hole',
    'breaking',
    S,
    {
      anyOf: [
        { type: 'string', maxLength: 5 },
        { type: 'string', minLength: 7 },
      ],
    },
  ],
  [
    'lengths without a hole',
    'compatible',
    S,
    {
      anyOf: [
        { type: 'string', maxLength: 5 },
        { type: 'string', minLength: 6 },
      ],
    },
  ],
  [
    'zod .strict() of a nested object',
    'breaking',
    object({ opts: object({ a: BOOL }) }, ['opts']),
    object({ opts: object({ a: BOOL }, undefined, { additionalProperties: false }) }, ['opts'], {
      additionalProperties: true,
    }),
  ],
  [
    'date-time with a maxLength',
    'breaking',
    { type: 'string', format: 'date-time' },
    { type: 'string', format: 'date-time', maxLength: 20 },
  ],
  ['uuid to a length', 'compatible', { type: 'string', format: 'uuid' }, { type: 'string', minLength: 36 }],
  ['ipv4 to at most 15', 'compatible', { type: 'string', format: 'ipv4' }, { type: 'string', maxLength: 15 }],
  // FastMCP and pydantic
  [
    'pydantic: Optional argument becomes plain',
    'breaking',
    obj({ limit: opt(I) }),
    obj({ limit: { ...I, default: 10 } }),
  ],
  [
    'pydantic: plain argument becomes Optional',
    'compatible',
    obj({ limit: { ...I, default: 10 } }),
    obj({ limit: opt(I) }),
  ],
  [
    'pydantic: titles appear everywhere',
    'compatible',
    obj({ q: S, n: I }, ['q']),
    obj({ q: { ...S, title: 'Q' }, n: { ...I, title: 'N' } }, ['q'], { title: 'searchArguments' }),
  ],
  [
    'pydantic: list or one text, now a list only',
    'breaking',
    obj({ paths: { anyOf: [S, arr(S)] } }, ['paths']),
    obj({ paths: arr(S) }, ['paths']),
  ],
  [
    'pydantic: variant added to a discriminated union',
    'compatible',
    {
      $defs: {
        A: obj({ kind: { const: 'a' }, x: I }, ['kind', 'x']),
        B: obj({ kind: { const: 'b' }, y: S }, ['kind', 'y']),
      },
      ...obj(
        {
          action: {
            oneOf: [{ $ref: '#/$defs/A' }, { $ref: '#/$defs/B' }],
            discriminator: { propertyName: 'kind', mapping: { a: '#/$defs/A', b: '#/$defs/B' } },
          },
        },
        ['action'],
      ),
    },
    {
      $defs: {
        A: obj({ kind: { const: 'a' }, x: I }, ['kind', 'x']),
        B: obj({ kind: { const: 'b' }, y: S }, ['kind', 'y']),
        C: obj({ kind: { const: 'c' } }, ['kind']),
      },
      ...obj(
        {
          action: {
            oneOf: [{ $ref: '#/$defs/A' }, { $ref: '#/$defs/B' }, { $ref: '#/$defs/C' }],
            discriminator: {
              propertyName: 'kind',
              mapping: { a: '#/$defs/A', b: '#/$defs/B', c: '#/$defs/C' },
            },
          },
        },
        ['action'],
      ),
    },
  ],
  [
    'pydantic: variant removed from a discriminated union',
    'breaking',
    {
      $defs: {
        A: obj({ kind: { const: 'a' }, x: I }, ['kind', 'x']),
        B: obj({ kind: { const: 'b' }, y: S }, ['kind', 'y']),
      },
      ...obj({ action: { oneOf: [{ $ref: '#/$defs/A' }, { $ref: '#/$defs/B' }] } }, ['action']),
    },
    {
      $defs: { A: obj({ kind: { const: 'a' }, x: I }, ['kind', 'x']) },
      ...obj({ action: { $ref: '#/$defs/A' } }, ['action']),
    },
  ],
  [
    'pydantic: definitions are inlined',
    'compatible',
    {
      $defs: { P: obj({ x: N, y: N }, ['x', 'y']) },
      ...obj({ from: { $ref: '#/$defs/P' }, to: { $ref: '#/$defs/P' } }, ['from', 'to']),
    },
    obj({ from: obj({ x: N, y: N }, ['x', 'y']), to: obj({ x: N, y: N }, ['x', 'y']) }, ['from', 'to']),
  ],
  [
    'pydantic: a field of a shared definition becomes required',
    'breaking',
    { $defs: { P: obj({ x: N, y: N }, ['x']) }, ...obj({ route: arr({ $ref: '#/$defs/P' }) }, ['route']) },
    {
      $defs: { P: obj({ x: N, y: N }, ['x', 'y']) },
      ...obj({ route: arr({ $ref: '#/$defs/P' }) }, ['route']),
    },
  ],
  [
    'pydantic: conint bounds as exclusive ones',
    'compatible',
    obj({ n: { ...I, minimum: 1, maximum: 100 } }),
    obj({ n: { ...I, exclusiveMinimum: 0, exclusiveMaximum: 101 } }),
  ],
  [
    'pydantic: conint bounds lose the last value',
    'breaking',
    obj({ n: { ...I, minimum: 1, maximum: 100 } }),
    obj({ n: { ...I, exclusiveMinimum: 0, exclusiveMaximum: 100 } }),
  ],
  [
    'pydantic: Decimal as text or number loses the number',
    'breaking',
    obj({ amount: { anyOf: [N, { ...S, pattern: String.raw`^-?\d+(\.\d+)?$` }] } }, ['amount']),
    obj({ amount: { ...S, pattern: String.raw`^-?\d+(\.\d+)?$` } }, ['amount']),
  ],
  ['pydantic: extra forbidden', 'breaking', obj({ q: S }, ['q']), obj({ q: S }, ['q'], CLOSED)],
  [
    'pydantic: dict values get a type',
    'breaking',
    obj({ env: { type: 'object', additionalProperties: true } }),
    obj({ env: { type: 'object', additionalProperties: S } }),
  ],
  [
    'pydantic: dict of integers to dict of numbers',
    'compatible',
    obj({ w: { type: 'object', additionalProperties: I } }),
    obj({ w: { type: 'object', additionalProperties: N } }),
  ],
  [
    'pydantic: Literal with one value as const',
    'compatible',
    obj({ mode: { enum: ['fast'], type: 'string' } }),
    obj({ mode: { const: 'fast', type: 'string' } }),
  ],
  [
    'pydantic: recursive model gets an optional any field',
    'compatible',
    { $defs: { T: obj({ name: S, kids: arr({ $ref: '#/$defs/T' }) }, ['name']) }, $ref: '#/$defs/T' },
    {
      $defs: { T: obj({ name: S, kids: arr({ $ref: '#/$defs/T' }), note: {} }, ['name']) },
      $ref: '#/$defs/T',
    },
  ],
  [
    'pydantic: recursive model limits its lists',
    'breaking',
    { $defs: { T: obj({ name: S, kids: arr({ $ref: '#/$defs/T' }) }, ['name']) }, $ref: '#/$defs/T' },
    {
      $defs: { T: obj({ name: S, kids: arr({ $ref: '#/$defs/T' }, { maxItems: 2 }) }, ['name']) },
      $ref: '#/$defs/T',
    },
  ],
  [
    'pydantic: tuple of two becomes a list of two',
    'compatible',
    obj({ box: { type: 'array', prefixItems: [N, N], minItems: 2, maxItems: 2 } }),
    obj({ box: arr(N, { minItems: 2, maxItems: 2 }) }),
  ],
  [
    'pydantic: list of two becomes a tuple with a text',
    'breaking',
    obj({ box: arr(N, { minItems: 2, maxItems: 2 }) }, ['box']),
    obj({ box: { type: 'array', prefixItems: [N, S], minItems: 2, maxItems: 2 } }, ['box']),
  ],
  [
    'pydantic: UUID gets a format',
    'breaking',
    obj({ id: S }, ['id']),
    obj({ id: { ...S, format: 'uuid' } }, ['id']),
  ],
  // zod, drafts 7 and 2020-12
  [
    'zod: strict becomes passthrough',
    'compatible',
    zod({ path: S }, ['path']),
    { ...zod({ path: S }, ['path']), additionalProperties: true },
  ],
  [
    'zod: optional argument added to a strict object',
    'compatible',
    zod({ path: S }, ['path']),
    zod({ path: S, depth: I }, ['path']),
  ],
  [
    'zod: argument renamed in a strict object',
    'breaking',
    zod({ path: S }, ['path']),
    zod({ file: S }, ['file']),
  ],
  [
    'zod: trimmed text gets min(1)',
    'breaking',
    zod({ path: S }, ['path']),
    zod({ path: { ...S, minLength: 1 } }, ['path']),
  ],
  [
    'zod: nonempty array becomes any array',
    'compatible',
    zod({ ids: arr(S, { minItems: 1 }) }, ['ids']),
    zod({ ids: arr(S) }, ['ids']),
  ],
  [
    'zod: set becomes array',
    'compatible',
    zod({ ids: arr(S, { uniqueItems: true }) }, ['ids']),
    zod({ ids: arr(S) }, ['ids']),
  ],
  [
    'zod: array becomes set',
    'breaking',
    zod({ ids: arr(S) }, ['ids']),
    zod({ ids: arr(S, { uniqueItems: true }) }, ['ids']),
  ],
  ['zod: url() added', 'breaking', zod({ url: S }, ['url']), zod({ url: { ...S, format: 'uri' } }, ['url'])],
  ['zod: int() added', 'breaking', zod({ n: N }), zod({ n: I })],
  [
    'zod: positive() becomes nonnegative()',
    'compatible',
    zod({ n: { ...N, exclusiveMinimum: 0 } }),
    zod({ n: { ...N, minimum: 0 } }),
  ],
  [
    'zod: nonnegative() becomes positive()',
    'breaking',
    zod({ n: { ...N, minimum: 0 } }),
    zod({ n: { ...N, exclusiveMinimum: 0 } }),
  ],
  [
    'zod 4: safe integer limits appear',
    'breaking',
    { $schema: D20, ...obj({ n: I }) },
    { $schema: D20, ...obj({ n: { ...I, minimum: -9007199254740991, maximum: 9007199254740991 } }) },
  ],
  [
    'zod 4: safe integer limits go',
    'compatible',
    { $schema: D20, ...obj({ n: { ...I, minimum: -9007199254740991, maximum: 9007199254740991 } }) },
    { $schema: D20, ...obj({ n: I }) },
  ],
  [
    'zod 4: record gets propertyNames',
    'breaking',
    obj({ h: { type: 'object', additionalProperties: S } }),
    obj({ h: { type: 'object', propertyNames: { ...S, minLength: 1 }, additionalProperties: S } }),
  ],
  [
    'zod 4: record gets propertyNames of any text',
    'compatible',
    obj({ h: { type: 'object', additionalProperties: S } }),
    obj({ h: { type: 'object', propertyNames: S, additionalProperties: S } }),
  ],
  [
    'zod: draft 7 and 2020-12 say the same',
    'compatible',
    { $schema: D7, ...obj({ a: S, b: arr(I) }, ['a']) },
    { $schema: D20, ...obj({ a: S, b: arr(I) }, ['a']) },
  ],
  [
    'zod: draft 7 tuple read as 2020-12 list of anything',
    'compatible',
    { $schema: D7, ...obj({ p: { type: 'array', items: [S, I], additionalItems: false, minItems: 2 } }) },
    { $schema: D20, ...obj({ p: { type: 'array', prefixItems: [S, I], items: false, minItems: 2 } }) },
  ],
  [
    'zod: tuple gets a third place that is required',
    'breaking',
    {
      $schema: D7,
      ...obj({ p: { type: 'array', items: [S, I], additionalItems: false, minItems: 2 } }, ['p']),
    },
    {
      $schema: D7,
      ...obj({ p: { type: 'array', items: [S, I, BOOL], additionalItems: false, minItems: 3 } }, ['p']),
    },
  ],
  [
    'zod: discriminated union as anyOf loses a mode',
    'breaking',
    zod(
      {
        edit: {
          anyOf: [
            obj({ type: { const: 'insert' }, line: I, text: S }, ['type', 'line', 'text'], CLOSED),
            obj({ type: { const: 'delete' }, line: I }, ['type', 'line'], CLOSED),
          ],
        },
      },
      ['edit'],
    ),
    zod(
      {
        edit: {
          anyOf: [obj({ type: { const: 'insert' }, line: I, text: S }, ['type', 'line', 'text'], CLOSED)],
        },
      },
      ['edit'],
    ),
  ],
  [
    'zod: union of literals as an enum',
    'compatible',
    zod({ sort: { anyOf: [{ const: 'asc' }, { const: 'desc' }] } }),
    zod({ sort: { type: 'string', enum: ['asc', 'desc'] } }),
  ],
  [
    'zod: native enum of numbers gets fewer',
    'breaking',
    zod({ level: { type: 'number', enum: [0, 1, 2, 3] } }, ['level']),
    zod({ level: { type: 'number', enum: [0, 1, 2] } }, ['level']),
  ],
  [
    'zod: intersection as allOf gets a stricter half',
    'breaking',
    { allOf: [obj({ a: S }, ['a']), obj({ b: I })] },
    { allOf: [obj({ a: S }, ['a']), obj({ b: I }, ['b'])] },
  ],
  [
    'zod: intersection is merged',
    'compatible',
    { allOf: [obj({ a: S }, ['a']), obj({ b: I }, ['b'])] },
    obj({ a: S, b: I }, ['a', 'b']),
  ],
  [
    'zod: regex is loosened',
    'compatible',
    zod({ tag: { ...S, pattern: '^[a-z]{2,8}$' } }),
    zod({ tag: { ...S, pattern: '^[a-z0-9]{1,8}$' } }),
  ],
  [
    'zod: regex is tightened',
    'breaking',
    zod({ tag: { ...S, pattern: '^[a-z0-9]{1,8}$' } }),
    zod({ tag: { ...S, pattern: '^[a-z][a-z0-9]{0,7}$' } }),
  ],
  [
    'zod: startsWith becomes includes',
    'compatible',
    zod({ key: { ...S, pattern: '^sk-' } }),
    zod({ key: { ...S, pattern: 'sk-' } }),
  ],
  [
    'zod: includes becomes startsWith',
    'breaking',
    zod({ key: { ...S, pattern: 'sk-' } }),
    zod({ key: { ...S, pattern: '^sk-' } }),
  ],
  [
    'zod: datetime with offset becomes a date',
    'breaking',
    zod({ since: { ...S, format: 'date-time' } }),
    zod({ since: { ...S, format: 'date' } }),
  ],
  [
    'zod: email or null becomes email',
    'breaking',
    zod({ to: { type: ['string', 'null'], format: 'email' } }, ['to']),
    zod({ to: { ...S, format: 'email' } }, ['to']),
  ],
  [
    'zod: readonly and describe only',
    'compatible',
    zod({ to: S }),
    zod({ to: { ...S, readOnly: true, description: 'To.', deprecated: true } }),
  ],
  // Go and C# SDKs, OpenAPI
  [
    'Go: pointer fields are lists of types',
    'compatible',
    obj({ n: I }),
    obj({ n: { type: ['null', 'integer'] } }),
  ],
  [
    'Go: slices may be null no more',
    'breaking',
    obj({ ids: { type: ['null', 'array'], items: S } }, ['ids']),
    obj({ ids: arr(S) }, ['ids']),
  ],
  [
    'Go: struct is closed with false, then with not',
    'compatible',
    obj({ a: S }, [], CLOSED),
    obj({ a: S }, [], { additionalProperties: { not: {} } }),
  ],
  [
    'C#: enum gets a null',
    'compatible',
    obj({ m: { enum: ['A', 'B'] } }),
    obj({ m: { enum: ['A', 'B', null] } }),
  ],
  [
    'OpenAPI: int32 becomes int64',
    'compatible',
    obj({ id: { ...I, format: 'int32' } }),
    obj({ id: { ...I, format: 'int64' } }),
  ],
  [
    'OpenAPI: int64 becomes int32',
    'breaking',
    obj({ id: { ...I, format: 'int64' } }, ['id']),
    obj({ id: { ...I, format: 'int32' } }, ['id']),
  ],
  [
    'OpenAPI: nullable appears',
    'unknown',
    obj({ id: { ...S, 'x-nullable': true } }),
    obj({ id: { ...S, 'x-nullable': false } }),
  ],
  [
    'OpenAPI: example and externalDocs',
    'compatible',
    obj({ id: S }),
    obj({ id: { ...S, example: 'a1', externalDocs: { url: 'https://example.com' } } }),
  ],
  ['OpenAPI: password format', 'compatible', obj({ pw: { ...S, format: 'password' } }), obj({ pw: S })],
  [
    'OpenAPI: allOf with a nullable reference',
    'compatible',
    { $defs: { U: obj({ n: S }) }, ...obj({ u: { allOf: [{ $ref: '#/$defs/U' }], description: 'who' } }) },
    { $defs: { U: obj({ n: S }) }, ...obj({ u: { $ref: '#/$defs/U' } }) },
  ],
  [
    'OpenAPI: format of its own appears',
    'unknown',
    obj({ c: S }),
    obj({ c: { ...S, format: 'iso-country' } }),
  ],
  // composition and conditions
  [
    'if a file is named, a line may be: now it has to',
    'breaking',
    obj({ file: S, line: I }, [], { if: { required: ['file'] }, then: {} }),
    obj({ file: S, line: I }, [], { if: { required: ['file'] }, then: { required: ['line'] } }),
  ],
  [
    'if/then/else: the else is dropped',
    'compatible',
    obj({ m: { enum: ['a', 'b'] }, x: I, y: I }, ['m'], {
      if: { properties: { m: { const: 'a' } } },
      then: { required: ['x'] },
      else: { required: ['y'] },
    }),
    obj({ m: { enum: ['a', 'b'] }, x: I, y: I }, ['m'], {
      if: { properties: { m: { const: 'a' } } },
      then: { required: ['x'] },
    }),
  ],
  [
    'if/then as dependentSchemas',
    'compatible',
    obj({ a: S, b: S }, [], { if: { required: ['a'] }, then: { required: ['b'] } }),
    obj({ a: S, b: S }, [], { dependentSchemas: { a: { required: ['b'] } } }),
  ],
  [
    'dependentRequired appears',
    'breaking',
    obj({ user: S, password: S }),
    obj({ user: S, password: S }, [], { dependentRequired: { user: ['password'] } }),
  ],
  [
    'dependentRequired gets weaker',
    'compatible',
    obj({ a: S, b: S, c: S }, [], { dependentRequired: { a: ['b', 'c'] } }),
    obj({ a: S, b: S, c: S }, [], { dependentRequired: { a: ['b'] } }),
  ],
  [
    'draft 7 dependencies as 2020-12 dependentRequired',
    'compatible',
    { $schema: D7, ...obj({ a: S, b: S }, [], { dependencies: { a: ['b'] } }) },
    { $schema: D20, ...obj({ a: S, b: S }, [], { dependentRequired: { a: ['b'] } }) },
  ],
  [
    'draft 4 dependencies get one more',
    'breaking',
    { $schema: D4, ...obj({ a: S, b: S, c: S }, [], { dependencies: { a: ['b'] } }) },
    { $schema: D4, ...obj({ a: S, b: S, c: S }, [], { dependencies: { a: ['b', 'c'] } }) },
  ],
  [
    'draft 4 exclusive bound as draft 6',
    'compatible',
    { $schema: D4, ...obj({ n: { type: 'number', minimum: 0, exclusiveMinimum: true } }) },
    { $schema: D6, ...obj({ n: { type: 'number', exclusiveMinimum: 0 } }) },
  ],
  [
    'draft 4 bound becomes exclusive',
    'breaking',
    { $schema: D4, ...obj({ n: { type: 'number', minimum: 0 } }) },
    { $schema: D4, ...obj({ n: { type: 'number', minimum: 0, exclusiveMinimum: true } }) },
  ],
  [
    'draft 6 contains appears',
    'breaking',
    { $schema: D6, ...obj({ l: arr(S) }, ['l']) },
    { $schema: D6, ...obj({ l: arr(S, { contains: { const: 'main' } }) }, ['l']) },
  ],
  [
    '2019-09 recursion gets stricter',
    'breaking',
    { $schema: D19, $recursiveAnchor: true, ...obj({ v: {}, kids: arr({ $recursiveRef: '#' }) }) },
    { $schema: D19, $recursiveAnchor: true, ...obj({ v: S, kids: arr({ $recursiveRef: '#' }) }) },
  ],
  [
    '2019-09 minContains is dropped',
    'compatible',
    { $schema: D19, ...obj({ l: { type: 'array', contains: { const: 1 }, minContains: 2 } }) },
    { $schema: D19, ...obj({ l: { type: 'array', contains: { const: 1 } } }) },
  ],
  [
    'oneOf of keys: one or the other, now both too',
    'compatible',
    obj({ id: S, name: S }, [], { oneOf: [{ required: ['id'] }, { required: ['name'] }] }),
    obj({ id: S, name: S }, [], { anyOf: [{ required: ['id'] }, { required: ['name'] }] }),
  ],
  [
    'anyOf of keys becomes oneOf',
    'breaking',
    obj({ id: S, name: S }, [], { anyOf: [{ required: ['id'] }, { required: ['name'] }] }),
    obj({ id: S, name: S }, [], { oneOf: [{ required: ['id'] }, { required: ['name'] }] }),
  ],
  [
    'oneOf with branches that now overlap',
    'breaking',
    obj({ v: { oneOf: [S, I] } }, ['v']),
    obj({ v: { oneOf: [S, N, I] } }, ['v']),
  ],
  [
    'anyOf with a branch that covers the others',
    'compatible',
    obj(
      {
        v: {
          anyOf: [
            { ...S, maxLength: 3 },
            { ...S, minLength: 2 },
          ],
        },
      },
      ['v'],
    ),
    obj({ v: S }, ['v']),
  ],
  [
    'unevaluatedProperties closes an allOf',
    'breaking',
    { allOf: [obj({ a: S })], ...obj({ b: S }) },
    { allOf: [obj({ a: S })], ...obj({ b: S }), unevaluatedProperties: false },
  ],
  [
    'unevaluatedProperties false as additionalProperties false',
    'compatible',
    { $schema: D20, allOf: [obj({ a: S })], ...obj({ b: S }), unevaluatedProperties: false },
    { $schema: D20, ...obj({ a: S, b: S }), ...CLOSED },
  ],
  [
    'unevaluatedProperties: a new member is allowed',
    'compatible',
    { allOf: [obj({ a: S })], unevaluatedProperties: false },
    { allOf: [obj({ a: S, b: I })], unevaluatedProperties: false },
  ],
  [
    'unevaluatedProperties: a member of a branch is gone',
    'breaking',
    { allOf: [obj({ a: S, b: I })], unevaluatedProperties: false },
    { allOf: [obj({ a: S })], unevaluatedProperties: false },
  ],
  [
    'unevaluatedItems after prefixItems',
    'breaking',
    { type: 'array', prefixItems: [S] },
    { type: 'array', prefixItems: [S], unevaluatedItems: false },
  ],
  [
    'not: a forbidden name is allowed again',
    'compatible',
    obj({ name: { ...S, not: { enum: ['root', 'admin'] } } }, ['name']),
    obj({ name: { ...S, not: { const: 'root' } } }, ['name']),
  ],
  [
    'not: another name is forbidden',
    'breaking',
    obj({ name: { ...S, not: { const: 'root' } } }, ['name']),
    obj({ name: { ...S, not: { enum: ['root', 'admin'] } } }, ['name']),
  ],
  [
    'patternProperties for x- members get a type',
    'breaking',
    { type: 'object', patternProperties: { '^x-': {} } },
    { type: 'object', patternProperties: { '^x-': S } },
  ],
  [
    'patternProperties and closed, then open',
    'compatible',
    { type: 'object', patternProperties: { '^x-': S }, additionalProperties: false },
    { type: 'object', patternProperties: { '^x-': S } },
  ],
  ['minProperties appears', 'breaking', obj({ a: S, b: S }), obj({ a: S, b: S }, [], { minProperties: 1 })],
  [
    'minProperties that required implies',
    'compatible',
    obj({ a: S, b: S }, ['a', 'b']),
    obj({ a: S, b: S }, [], { minProperties: 2 }),
  ],
  [
    'maxProperties of a closed object',
    'compatible',
    obj({ a: S, b: S }, [], CLOSED),
    obj({ a: S, b: S }, [], { maxProperties: 2 }),
  ],
  // deep, recursive and shared
  [
    'filter language: an operator is gone',
    'breaking',
    filterOf(['eq', 'ne', 'gt', 'lt']),
    filterOf(['eq', 'ne', 'gt']),
  ],
  [
    'filter language: an operator is new',
    'compatible',
    filterOf(['eq', 'ne', 'gt']),
    filterOf(['eq', 'ne', 'gt', 'in']),
  ],
  [
    'filter language: empty lists of conditions are refused',
    'breaking',
    filterOf(['eq', 'ne']),
    filterOf(['eq', 'ne'], { minItems: 1 }),
  ],
  [
    'JSON value: any becomes recursive union',
    'breaking',
    obj({ v: {} }, ['v']),
    {
      $defs: {
        J: {
          anyOf: [
            S,
            N,
            BOOL,
            arr({ $ref: '#/$defs/J' }),
            { type: 'object', additionalProperties: { $ref: '#/$defs/J' } },
          ],
        },
      },
      ...obj({ v: { $ref: '#/$defs/J' } }, ['v']),
    },
  ],
  [
    'JSON value: recursive union with all types is any',
    'compatible',
    obj({ v: {} }, ['v']),
    {
      $defs: {
        J: {
          anyOf: [
            S,
            N,
            BOOL,
            B_NULL,
            arr({ $ref: '#/$defs/J' }),
            { type: 'object', additionalProperties: { $ref: '#/$defs/J' } },
          ],
        },
      },
      ...obj({ v: { $ref: '#/$defs/J' } }, ['v']),
    },
  ],
  [
    'mutual recursion: file holds folder holds file',
    'breaking',
    {
      $defs: {
        file: obj({ n: S, in: { $ref: '#/$defs/dir' } }, ['n']),
        dir: obj({ n: S, files: arr({ $ref: '#/$defs/file' }) }),
      },
      $ref: '#/$defs/dir',
    },
    {
      $defs: {
        file: obj({ n: S, in: { $ref: '#/$defs/dir' }, size: I }, ['n', 'size']),
        dir: obj({ n: S, files: arr({ $ref: '#/$defs/file' }) }),
      },
      $ref: '#/$defs/dir',
    },
  ],
  [
    'recursion is renamed',
    'compatible',
    { $defs: { a: obj({ n: S, kids: arr({ $ref: '#/$defs/a' }) }) }, $ref: '#/$defs/a' },
    { definitions: { b: obj({ n: S, kids: arr({ $ref: '#/definitions/b' }) }) }, $ref: '#/definitions/b' },
  ],
  [
    'recursion is unrolled once',
    'compatible',
    { $defs: { a: obj({ n: S, next: { $ref: '#/$defs/a' } }) }, $ref: '#/$defs/a' },
    {
      $defs: { a: obj({ n: S, next: { $ref: '#/$defs/a' } }) },
      ...obj({ n: S, next: { $ref: '#/$defs/a' } }),
    },
  ],
  [
    'recursion is cut at the second level',
    'breaking',
    { $defs: { a: obj({ n: S, next: { $ref: '#/$defs/a' } }, [], CLOSED) }, $ref: '#/$defs/a' },
    obj({ n: S, next: obj({ n: S }, [], CLOSED) }, [], CLOSED),
  ],
  [
    'reference by $anchor',
    'compatible',
    { $defs: { p: { $anchor: 'point', ...obj({ x: N }) } }, ...obj({ p: { $ref: '#point' } }) },
    obj({ p: obj({ x: N }) }),
  ],
  [
    'reference to another document',
    'unknown',
    obj({ p: S }),
    obj({ p: { $ref: 'https://example.com/p.json' } }),
  ],
  [
    'draft 7: members beside $ref are ignored by some programs',
    'unknown',
    { $schema: D7, definitions: { s: S }, ...obj({ p: { $ref: '#/definitions/s', minLength: 3 } }) },
    { $schema: D7, definitions: { s: S }, ...obj({ p: { $ref: '#/definitions/s', minLength: 5 } }) },
  ],
  [
    '2020-12: members beside $ref count',
    'breaking',
    { $defs: { s: S }, ...obj({ p: { $ref: '#/$defs/s', minLength: 3 } }, ['p']) },
    { $defs: { s: S }, ...obj({ p: { $ref: '#/$defs/s', minLength: 5 } }, ['p']) },
  ],
  [
    'reference with escaped names',
    'breaking',
    { $defs: { 'a/b~c d': { enum: [1, 2] } }, ...obj({ p: { $ref: '#/$defs/a~1b~0c%20d' } }, ['p']) },
    { $defs: { 'a/b~c d': { enum: [1] } }, ...obj({ p: { $ref: '#/$defs/a~1b~0c%20d' } }, ['p']) },
  ],
  [
    'multipleOf 0.1 becomes 0.2',
    'breaking',
    obj({ t: { ...N, multipleOf: 0.1 } }, ['t']),
    obj({ t: { ...N, multipleOf: 0.2 } }, ['t']),
  ],
  [
    'multipleOf 10 becomes 5',
    'compatible',
    obj({ t: { ...I, multipleOf: 10 } }),
    obj({ t: { ...I, multipleOf: 5 } }),
  ],
  [
    'length counts characters, not units',
    'breaking',
    obj({ t: { ...S, maxLength: 4 } }, ['t']),
    obj({ t: { ...S, maxLength: 3 } }, ['t']),
  ],
  [
    'list of lists gets a limit inside',
    'breaking',
    obj({ rows: arr(arr(N)) }, ['rows']),
    obj({ rows: arr(arr(N, { maxItems: 3 })) }, ['rows']),
  ],
  [
    'list of objects: key becomes an enum of what it was by pattern',
    'compatible',
    obj({ env: arr(obj({ k: { enum: ['dev', 'prod'] } }, ['k'])) }),
    obj({ env: arr(obj({ k: { ...S, pattern: '^(dev|prod|stage)$' } }, ['k'])) }),
  ],
  [
    'ipv4 or ipv6 becomes ipv4',
    'breaking',
    obj(
      {
        host: {
          anyOf: [
            { ...S, format: 'ipv4' },
            { ...S, format: 'ipv6' },
          ],
        },
      },
      ['host'],
    ),
    obj({ host: { ...S, format: 'ipv4' } }, ['host']),
  ],
  [
    'date becomes a pattern of a date',
    'compatible',
    obj({ d: { ...S, format: 'date' } }),
    obj({ d: { ...S, pattern: String.raw`^\d{4}-\d{2}-\d{2}$` } }),
  ],
  [
    'uri-reference to uri',
    'breaking',
    obj({ u: { ...S, format: 'uri-reference' } }, ['u']),
    obj({ u: { ...S, format: 'uri' } }, ['u']),
  ],
  [
    'uri to uri-reference',
    'compatible',
    obj({ u: { ...S, format: 'uri' } }),
    obj({ u: { ...S, format: 'uri-reference' } }),
  ],
  [
    'default outside of the schema',
    'compatible',
    obj({ n: { ...I, default: 5 } }),
    obj({ n: { ...I, default: '5' } }),
  ],

  // what is not known may be inside of a condition
  [
    'the values that an unknown format excludes',
    'unknown',
    { enum: ['a', 'b'], not: { format: 'luhn' } },
    { enum: ['a'] },
  ],
  [
    'the values that an unknown keyword excludes',
    'unknown',
    { enum: ['a', 'b'], not: { 'x-rule': 1 } },
    { enum: ['a'] },
  ],
  [
    'an alternative with an unknown format',
    'unknown',
    { enum: ['a', 'b'], oneOf: [{ format: 'luhn' }, { const: 'a' }] },
    { const: 'b' },
  ],
  [
    'texts without an unknown format',
    'unknown',
    { type: 'string', not: { format: 'luhn' } },
    { type: 'string', minLength: 1 },
  ],
  [
    'const is no keyword of draft 4',
    'unknown',
    { $schema: D4, anyOf: [{ const: 'a' }, { const: 'b' }] },
    { $schema: D4, enum: ['a', 'b'] },
  ],
  [
    'what is beside a reference of draft 7 rejects less',
    'unknown',
    { $schema: D7, definitions: { s: S }, ...obj({ p: { $ref: '#/definitions/s', minLength: 5 } }, ['p']) },
    { $schema: D7, definitions: { s: S }, ...obj({ p: { $ref: '#/definitions/s', maxLength: 9 } }, ['p']) },
  ],
]
