/** schema/config-1.json: sections made of the options that have a config key, and definitions written by hand. */
export function configSchema(commands) {
  const rows = commands.flatMap(({ options }) => Object.values(options))
  const sections = Object.entries(SECTIONS).map(([name, description]) => [
    name,
    { description, ...sectionSchema(rows, name) },
  ])
  return withSnakeCase({
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    $id: 'urn:reelay:config-1',
    title: 'reelay.config.yaml, version 1',
    type: ['object', 'null'],
    additionalProperties: false,
    properties: {
      $schema: { type: 'string' },
      ...Object.fromEntries(['redaction', 'match', 'replay', 'serve'].map((name) => [name, optional(name)])),
    },
    $defs: { ...Object.fromEntries(sections), ...DEFINITIONS },
  })
}

/** Adds the snake_case spelling of every name and every choice, because the reader accepts both. */
function withSnakeCase(schema, path = '#') {
  if (Array.isArray(schema)) return schema.map((item, at) => withSnakeCase(item, `${path}/${at}`))
  if (schema === null || typeof schema !== 'object') return schema
  const { enum: words, const: word, ...rest } = schema
  const choices = [...new Set((words ?? [word]).flatMap((each) => [each, toSnakeCase(each)]))]
  const copy = {
    ...(words && { enum: choices }),
    ...('const' in schema && (choices.length > 1 ? { enum: choices } : { const: word })),
  }
  for (const [name, value] of Object.entries(rest)) copy[name] = withSnakeCase(value, `${path}/${name}`)
  const names = schema.additionalProperties === false ? Object.keys(schema.properties) : []
  for (const name of names.filter((each) => toSnakeCase(each) !== each)) {
    if (schema.required?.includes(name)) throw new Error(`a required name has two spellings: ${name}`)
    copy.properties[toSnakeCase(name)] = { $ref: `${path}/properties/${name}` }
  }
  return copy
}

function toSnakeCase(name) {
  const isCamelCase = typeof name === 'string' && /^[a-z]+(?:[A-Z][a-z]*)+$/.test(name)
  return isCamelCase ? name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`) : name
}

const SECTIONS = {
  redaction: 'What is a secret and what is not: docs/reference/config.md.',
  match: 'How live requests are matched with recorded ones: docs/reference/matching-rules.md.',
  replay: 'Settings of reelay replay and reelay verify: docs/reference/config.md.',
}

/** A section may be there without content. */
function optional(name) {
  return { anyOf: [{ type: 'null' }, ref(name)] }
}

function sectionSchema(rows, section) {
  const schema = object({})
  for (const row of rows)
    for (const key of [row.config ?? []].flat()) {
      const [first, ...path] = key.split('.')
      if (first === section) addProperty(schema, path, row)
    }
  return schema
}

function addProperty(schema, [name, ...rest], row) {
  if (rest.length === 0) schema.properties[name] = { ...row.type.schema, description: `${row.help}.` }
  else addProperty((schema.properties[name] ??= object({})), rest, row)
}

function object(properties, more) {
  return { type: 'object', additionalProperties: false, properties, ...more }
}

function required(properties, ...names) {
  return object(properties, { required: names })
}

/** An object with one member, whose name is the choice. */
function oneOf(properties) {
  return object(properties, { minProperties: 1, maxProperties: 1 })
}

function ref(name, description) {
  return { $ref: `#/$defs/${name}`, ...(description && { description }) }
}

const WORD = { type: 'string', minLength: 1 }

const DEFINITIONS = {
  text: WORD,
  jsonPath: {
    ...WORD,
    description: 'A path in the params of a message, where $ is the params: $.arguments.q, $["a b"][0].',
  },
  responsePath: { ...WORD, description: 'A path in a response: result.content[0].text, result.items[*].id.' },
  duration: {
    anyOf: [
      { type: 'number', minimum: 0, description: 'Milliseconds.' },
      { type: 'string', pattern: '^\\d+(?:\\.\\d+)? ?(?:ms|s|m)?$' },
    ],
  },
  share: {
    anyOf: [
      { type: 'number', minimum: 0, description: 'A share of the larger number: 0.01.' },
      { type: 'string', pattern: '^\\d+(?:\\.\\d+)? ?%$', description: 'A percentage: 1%.' },
    ],
  },
  pace: {
    anyOf: [
      { enum: ['none', 'fast', 'recorded', 'original', 'realtime', 'stepped'] },
      { type: 'string', pattern: '^(?:x?\\d+(?:\\.\\d+)?|\\d+(?:\\.\\d+)?ms|\\d+(?:\\.\\d+)?rps)$' },
      { type: 'number', exclusiveMinimum: 0 },
    ],
  },
  redactionRule: required(
    {
      name: WORD,
      pattern: {
        ...WORD,
        description:
          'A regular expression, alone or as /…/i. If it has a group named secret, only the group is replaced.',
      },
      keywords: {
        type: 'array',
        items: ref('text'),
        description: 'The pattern is tried only where one of these occurs.',
      },
    },
    'name',
    'pattern',
  ),
  validationRule: required(
    {
      name: WORD,
      appliesTo: {
        anyOf: [
          { const: 'all' },
          oneOf({ all: true, method: WORD, tool: WORD, messageType: { enum: ['result', 'error'] } }),
        ],
        description: 'Responses that the rule applies to; by default all.',
      },
      kind: {
        anyOf: [
          { enum: ['exact', 'structural', 'partial'] },
          oneOf({
            exact: true,
            structural: true,
            partial: object({
              required: {
                type: 'array',
                items: ref('responsePath'),
                description: 'Compare only the values at these paths.',
              },
            }),
          }),
        ],
        description:
          'exact; structural: only types and names; partial: everything recorded must be there, more is allowed.',
      },
      onFailure: {
        enum: ['ignore', 'warn', 'error', 'retry', 'skip'],
        description: 'What a difference means; by default error. skip does not count the response.',
      },
    },
    'name',
    'kind',
  ),
  transformation: required(
    {
      name: WORD,
      condition: {
        anyOf: [
          { const: 'always' },
          oneOf({
            always: true,
            methodEquals: WORD,
            messageType: { enum: ['request', 'notification'] },
            index: {
              type: 'number',
              minimum: 0,
              description: 'The position among the messages of the client, from 0.',
            },
            tool: WORD,
            path: {
              anyOf: [ref('jsonPath'), required({ path: ref('jsonPath'), equals: true }, 'path')],
              description: 'Messages that have a value there; with equals, this value.',
            },
          }),
        ],
        description: 'Messages that the transformation applies to; by default always.',
      },
      action: {
        anyOf: [
          { const: 'regenerateId' },
          oneOf({
            regenerateId: true,
            mapId: required(
              { from: { type: ['string', 'number'] }, to: { type: ['string', 'number'] } },
              'from',
              'to',
            ),
            setParam: ref('pathAndValue'),
            setResult: ref('pathAndValue'),
            removeParam: ref('onePath'),
            setTimestamp: {
              anyOf: [ref('jsonPath'), required({ path: ref('jsonPath'), date: { type: 'string' } }, 'path')],
            },
            replaceParam: required(
              {
                path: ref('jsonPath'),
                pattern: { ...WORD, description: 'A regular expression.' },
                replacement: { type: 'string' },
              },
              'path',
              'pattern',
              'replacement',
            ),
            injectError: {
              description: 'Sends nothing and uses this error as the response.',
              ...required({ code: { type: 'integer' }, message: WORD }, 'code', 'message'),
            },
            renameMethod: WORD,
            delay: ref('duration'),
          }),
        ],
      },
    },
    'name',
    'action',
  ),
  methodPriority: {
    type: 'object',
    description: 'Numbers by method; a higher one is sent first.',
    additionalProperties: { type: 'number', minimum: 0 },
  },
  ordering: {
    anyOf: [
      { enum: ['correlated', 'sequential', 'priority', 'random'] },
      oneOf({
        correlated: { type: 'null' },
        sequential: { type: 'null' },
        priority: {
          anyOf: [required({ methodPriority: ref('methodPriority') }), ref('methodPriority')],
        },
        random: object({ seed: { type: 'integer', minimum: 0, maximum: 999_999_999 } }),
      }),
    ],
  },
  parameterOverrides: {
    type: 'object',
    description:
      'Values by address: tools/call:$.arguments.q, tools/call:search:$.arguments.q for one tool, or $.arguments.q for every message that has a value there.',
    propertyNames: { pattern: '^(?:[^:=]+:(?:[^:=$]+:)?)?\\$[^=]*$' },
  },
  injectedErrors: {
    type: 'array',
    minItems: 1,
    items: {
      enum: [
        'timeout',
        'disconnect',
        'malformed',
        'network-error',
        'network_error',
        'invalid-response',
        'invalid_response',
      ],
    },
  },
  pathAndValue: required(
    {
      path: ref('jsonPath'),
      value: { description: '${env.NAME} in a text is read from the environment.' },
    },
    'path',
    'value',
  ),
  onePath: { anyOf: [ref('jsonPath'), required({ path: ref('jsonPath') }, 'path')] },
  address: {
    description: 'Where to listen: a port, host:port, or true for a free port on 127.0.0.1.',
    anyOf: [{ const: true }, { type: 'integer', minimum: 0, maximum: 65535 }, ref('text')],
  },
  serve: {
    description: 'The tapes that reelay serve serves if none is named: docs/reference/config.md.',
    ...required(
      {
        tapes: {
          type: 'array',
          minItems: 1,
          items: {
            anyOf: [
              ref('text'),
              required(
                {
                  tape: {
                    ...WORD,
                    description: 'A name in the tape folder, or a path from the folder of this file.',
                  },
                  server: {
                    ...WORD,
                    description: 'One server of a tape with several; otherwise each has its path.',
                  },
                  http: ref('address'),
                  sse: ref('address'),
                },
                'tape',
              ),
            ],
          },
        },
      },
      'tapes',
    ),
  },
}
