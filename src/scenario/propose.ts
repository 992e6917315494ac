import { isDeepStrictEqual } from 'node:util'
import { isObject, member, type JsonObject } from '../json/parse.ts'
import { formatPath, type JsonPath } from '../json/path.ts'
import { sleep } from '../link/process/monotonic-clock.ts'
import type { LiveClient } from '../replay/session/live-client.ts'
import { SchemaDocument } from '../schemas/schema-document.ts'
import { findWitnesses } from '../schemas/witness.ts'
import type { ListedTool } from './tool-arguments.ts'

/** A step of a scenario that is proposed for a tool. */
interface ProposedStep {
  readonly call: string
  readonly args: JsonObject
  /** Values that were equal in both calls, by path. */
  readonly expect: Readonly<Record<string, unknown>>
  /** Values that differed, by path. */
  readonly varying: readonly string[]
}

export interface Proposal {
  readonly steps: readonly ProposedStep[]
  /** Tools that were not called, and why. */
  readonly skipped: readonly { readonly tool: string; readonly why: string }[]
}

/**
 * Calls each read-only tool twice with the same arguments, and keeps what is equal. The second round begins in another second, so that
 * times differ. Tools that may write are not called.
 */
export async function proposeScenario(client: LiveClient, tools: readonly ListedTool[]): Promise<Proposal> {
  const steps: ProposedStep[] = []
  const skipped: { tool: string; why: string }[] = []
  const answered: { call: string; args: JsonObject; first: unknown }[] = []
  for (const tool of tools) {
    const args = isReadOnly(tool) ? sampleArguments(tool) : undefined
    if (!isReadOnly(tool))
      skipped.push({ tool: tool.name, why: 'it may write: it is not marked as read-only' })
    else if (args === undefined)
      skipped.push({ tool: tool.name, why: 'no arguments could be made from its schema' })
    else {
      const outcome = await client.request('tools/call', { name: tool.name, arguments: args })
      if ('error' in outcome) skipped.push({ tool: tool.name, why: errorReason(outcome.error) })
      else answered.push({ call: tool.name, args, first: outcome.result })
    }
  }
  if (answered.length > 0) await sleep(ROUND_GAP_MS)
  for (const { call, args, first } of answered) {
    const outcome = await client.request('tools/call', { name: call, arguments: args })
    if ('error' in outcome) skipped.push({ tool: call, why: errorReason(outcome.error) })
    else steps.push(proposeStep(call, args, [first, outcome.result]))
  }
  return { steps, skipped }
}

/** Longer than the precision of most times in results. */
const ROUND_GAP_MS = 1100

function errorReason(error: unknown): string {
  return `it was answered with error ${String(member(error, 'message'))}`
}

function isReadOnly({ annotations }: ListedTool): boolean {
  return member(annotations, 'readOnlyHint') === true
}

/** Arguments that are valid by the schema: examples and defaults if it has them, otherwise small values. */
function sampleArguments({ inputSchema }: ListedTool): JsonObject | undefined {
  const schema = new SchemaDocument(isObject(inputSchema) ? inputSchema : {})
  const documented = documentedArguments(inputSchema)
  if (schema.accepts(documented) !== false) return documented
  const nothing = new SchemaDocument({ not: {} })
  const known = [documented, {}]
  const [found] = findWitnesses(schema, nothing, { known, most: 1, time: SEARCH_MS })
  return isObject(found?.value) ? { ...found.value, ...documentedArguments(inputSchema) } : undefined
}

const SEARCH_MS = 500

/** The required arguments with their first example, default or choice. */
function documentedArguments(inputSchema: unknown): JsonObject {
  const [properties, required] = [member(inputSchema, 'properties'), member(inputSchema, 'required')]
  if (!isObject(properties) || !Array.isArray(required)) return {}
  const entries = Object.entries(properties).flatMap(([name, schema]) => {
    const examples = member(schema, 'examples')
    const choices = member(schema, 'enum')
    const value = [
      Array.isArray(examples) ? (examples[0] as unknown) : undefined,
      member(schema, 'default'),
      member(schema, 'const'),
      Array.isArray(choices) ? (choices[0] as unknown) : undefined,
    ].find((each) => each !== undefined)
    return required.includes(name) && value !== undefined ? [[name, value] as const] : []
  })
  return Object.fromEntries(entries)
}

function proposeStep(
  call: string,
  args: JsonObject,
  [first, second]: readonly [unknown, unknown],
): ProposedStep {
  if (member(first, 'isError') === true && member(second, 'isError') === true)
    return { call, args, expect: { isError: true }, varying: [] }
  const [stable, varying]: [Record<string, unknown>, string[]] = [{}, []]
  compare(first, second, [], { stable, varying })
  return { call, args, expect: stable, varying }
}

interface Compared {
  readonly stable: Record<string, unknown>
  readonly varying: string[]
}

const MOST_EXPECTED = 20

/** Collects the values of both results that are equal, and the paths of those that are not. */
function compare(first: unknown, second: unknown, path: JsonPath, found: Compared): void {
  if (path[0] === '_meta') return
  if (isObject(first) && isObject(second)) {
    for (const name of new Set([...Object.keys(first), ...Object.keys(second)]))
      compare(first[name], second[name], [...path, name], found)
    return
  }
  if (Array.isArray(first) && Array.isArray(second) && first.length === second.length && first.length > 0) {
    for (const [at, item] of first.entries()) compare(item, second[at], [...path, at], found)
    return
  }
  const where = formatPath(path)
  if (!isDeepStrictEqual(first, second)) found.varying.push(where)
  else if (Object.keys(found.stable).length < MOST_EXPECTED && isShort(first)) found.stable[where] = first
}

function isShort(value: unknown): boolean {
  return value !== undefined && JSON.stringify(value).length <= 200
}
