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
    'unknown',
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
    'unknown',
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
]
