// What generators of calls do that know only the schemas of the tools: valid values, values at the limits, and invalid ones.
import { Ajv2020 } from 'ajv/dist/2020.js'
import { seededRandom } from '../../dist/seeded-random.js'
import { connect } from './client.mjs'

/** Calls a server with generated arguments, within a number of calls and seconds. Returns the failures that it sees. */
export async function fuzzBySchema(command, { calls, seconds, seed, callsPerSession, timeout }) {
  const random = seededRandom(seed)
  const pick = (items) => items[Math.floor(random() * items.length)]
  const found = new Set()
  const began = performance.now()
  const isOver = () => performance.now() - began > seconds * 1000
  let sent = 0
  while (sent < calls && !isOver()) {
    const client = await connect(command, { timeout })
    const { tools } = await client.request('tools/list', {})
    const validators = new Map(
      tools.map(({ name, outputSchema }) => [
        name,
        new Ajv2020({ strict: false, validateFormats: false }).compile(outputSchema),
      ]),
    )
    for (let call = 0; call < callsPerSession && sent < calls && !isOver(); call++, sent++) {
      const { name, inputSchema } = pick(tools)
      const given = argumentsFor(inputSchema, random, pick)
      try {
        const { error, result } = await client.exchange('tools/call', { name, arguments: given })
        if (error?.code === -32603) found.add(`internal-error ${name}`)
        if (/\n\s+at .*:\d+:\d+/.test(error?.message ?? '')) found.add(`leak ${name}`)
        if (result !== undefined && !result.isError && !validators.get(name)(result.structuredContent))
          found.add(`schema ${name}`)
      } catch (why) {
        found.add(`${why.message} ${name}`)
        break
      }
    }
    client.kill()
  }
  return { found: [...found], sent }
}

function argumentsFor(schema, random, pick) {
  const entries = Object.entries(schema.properties).map(([name, each]) => [
    name,
    valueFor(each, random, pick),
  ])
  const values = Object.fromEntries(entries)
  const odd = random()
  if (odd < 0.1) delete values[pick(Object.keys(values))]
  else if (odd < 0.2) values.extra = 'x'
  else if (odd < 0.4)
    values[pick(Object.keys(values))] = pick([null, true, 7, 'x', [], {}, -1, 'x'.repeat(100_000)])
  return values
}

function valueFor(schema, random, pick) {
  if (schema.format === 'uuid')
    return pick(['123e4567-e89b-12d3-a456-426614174000', '00000000-0000-0000-0000-000000000000'])
  if (schema.type === 'string')
    return pick([
      'a',
      'text',
      'some words',
      '',
      '\u{1F600}',
      'x'.repeat(schema.maxLength ?? 1000),
      "' OR 1=1 --",
      '../..',
    ])
  const { minimum = 0, maximum = 1000 } = schema
  return pick([
    minimum,
    minimum + 1,
    minimum + 2,
    maximum,
    Math.floor(minimum + random() * 10),
    2 ** 31,
    minimum - 1,
  ])
}
