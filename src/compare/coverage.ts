import { canonicalJson } from '../json/canonical.ts'
import { isObject, member, type JsonObject } from '../json/parse.ts'
import { SchemaDocument, type SchemaNode } from '../schemas/schema-document.ts'
import { childNode, itemSchemas, namedMembers, partsOf, type SchemaPart } from '../schemas/schema-parts.ts'
import { openIndexedTape } from '../store/index/indexed-tape.ts'
import type { TapeServer } from '../tape/header.ts'
import { clientCallOf, turnStoreOf, type TurnStore } from '../tape/turns.ts'
import { suggestCalls, type CoveragePoint, type OfferKind, type SuggestedCall } from './coverage-calls.ts'
import { resultOfTurn, surfacesOf, type ServerSurface } from './surface.ts'

/** What tapes exercise of what their servers offer. */
export interface CoverageReport {
  readonly tapes: readonly string[]
  readonly servers: readonly ServerCoverage[]
  /** Whether less is covered than was demanded; absent if nothing was. */
  readonly hasFailed?: boolean
}

export interface ServerCoverage {
  /** The name that the server gives itself, or else the one that the tape gives it. */
  readonly name: string
  /** How the recorded server was reached, for the calls. */
  readonly target: TapeServer | undefined
  readonly items: readonly CoveredItem[]
  /** Called, but in no list on the tapes. */
  readonly unlisted: readonly string[]
  /** Lists that no client asked for, so that nothing is known about them. */
  readonly unknownLists: readonly string[]
}

/** A tool, prompt, resource or resource template that a server lists. */
export interface CoveredItem {
  readonly kind: OfferKind
  readonly name: string
  readonly calls: number
  readonly errors: number
  readonly points: readonly CoveragePoint[]
  /** Calls that would cover the missing points. */
  readonly suggestions: readonly SuggestedCall[]
}

/** Measures the tapes together. What a later tape says about a server counts. */
export async function measureCoverage(paths: readonly string[]): Promise<CoverageReport> {
  const servers = new Map<string, ServerUse>()
  for (const path of paths) {
    const tape = await openIndexedTape(path)
    try {
      const turns = turnStoreOf(tape.turns)
      const names = new Map<string, ServerUse>()
      for (const [server, surface] of surfacesOf(turns)) {
        const own = member(surface.info, 'name')
        const name = typeof own === 'string' && own !== '' ? own : server
        const use = servers.get(name) ?? new ServerUse(name)
        servers.set(name, use)
        names.set(server, use)
        use.addSurface(surface, tape.header.servers[server])
      }
      addCalls(turns, names)
    } finally {
      tape.close()
    }
  }
  return { tapes: paths, servers: [...servers.values()].map((use) => use.coverage()) }
}

/** The share of covered points, from 0 to 1. Without any point it is 1. */
export function coveredShare(points: readonly CoveragePoint[]): number {
  return points.length === 0 ? 1 : points.filter(({ uses }) => uses > 0).length / points.length
}

export function allPoints({ servers }: CoverageReport): readonly CoveragePoint[] {
  return servers.flatMap(({ items }) => items.flatMap(({ points }) => points))
}

const USES: Readonly<Record<string, { readonly kind: OfferKind; readonly key: 'name' | 'uri' }>> = {
  'tools/call': { kind: 'tool', key: 'name' },
  'prompts/get': { kind: 'prompt', key: 'name' },
  'resources/read': { kind: 'resource', key: 'uri' },
}

function addCalls(turns: TurnStore, servers: ReadonlyMap<string, ServerUse>): void {
  for (let index = 0; index < turns.size; index++) {
    const { trigger, method, server } = turns.summary(index)
    const use = USES[method]
    if (trigger !== 'request' || use === undefined) continue
    const turn = turns.at(index)
    const params = clientCallOf(turn?.trigger)?.params
    const name = member(params, use.key)
    if (turn === undefined || typeof name !== 'string') continue
    const result = resultOfTurn(turn)
    const isFailed =
      turn.response !== undefined && (result === undefined || member(result, 'isError') === true)
    servers.get(server)?.addCall(use.kind, name, { values: member(params, 'arguments') ?? {}, isFailed })
  }
}

/** What was recorded with a tool, prompt or resource. */
interface RecordedUse {
  calls: number
  errors: number
  /** Arguments of successful calls, the latest last. */
  readonly samples: unknown[]
  /** How often an argument was given, by its path, and each value of it that a schema could name. */
  readonly paths: Map<string, PathUse>
}

interface PathUse {
  uses: number
  readonly values: Map<string, number>
}

const MOST_SAMPLES = 20
const MOST_VALUES = 1_000

class ServerUse {
  readonly #name: string
  readonly #uses = new Map<string, RecordedUse>()
  #surface: ServerSurface = {}
  #target: TapeServer | undefined

  constructor(name: string) {
    this.#name = name
  }

  addSurface(surface: ServerSurface, target: TapeServer | undefined): void {
    this.#surface = { ...this.#surface, ...surface }
    this.#target = target ?? this.#target
  }

  addCall(kind: OfferKind, name: string, { values, isFailed }: RecordedCall): void {
    const key = `${kind} ${name}`
    const use: RecordedUse = this.#uses.get(key) ?? { calls: 0, errors: 0, samples: [], paths: new Map() }
    this.#uses.set(key, use)
    use.calls++
    if (isFailed) use.errors++
    else if (use.samples.push(values) > MOST_SAMPLES) use.samples.shift()
    addPaths(use.paths, values, [])
  }

  coverage(): ServerCoverage {
    const { tools, prompts, resources, templates } = this.#surface
    const items = [
      ...Array.from(tools ?? [], ([name, tool]) => this.#tool(name, tool)),
      ...Array.from(prompts ?? [], ([name, prompt]) => this.#prompt(name, prompt)),
      ...Array.from(resources ?? [], ([uri]) => this.#item('resource', uri, [])),
      ...Array.from(templates ?? [], ([template]) => this.#template(template)),
    ]
    const listed = new Set(items.map(({ kind, name }) => `${kind} ${name}`))
    return {
      name: this.#name,
      target: this.#target,
      items,
      unlisted: [...this.#uses.keys()].filter((key) => !listed.has(key) && !this.#isFromTemplate(key)),
      unknownLists: this.#unknownLists(),
    }
  }

  #tool(name: string, tool: JsonObject): CoveredItem {
    const document = new SchemaDocument(tool['inputSchema'] ?? {})
    const declared = document.problem === undefined ? declaredArguments(document) : []
    const use = this.#uses.get(`tool ${name}`)
    const points = declared.flatMap(({ path, values }): readonly CoveragePoint[] => {
      const given = use?.paths.get(path.join('\0'))
      return [
        ...(path.at(-1) === '[]' ? [] : [{ kind: 'argument', path, uses: given?.uses ?? 0 } as const]),
        ...values.map((value): CoveragePoint => ({
          kind: 'value',
          path,
          value,
          uses: given?.values.get(canonicalJson(value)) ?? 0,
        })),
      ]
    })
    const item = this.#item('tool', name, [...points, { kind: 'error', uses: use?.errors ?? 0 }])
    const mayWrite = member(tool['annotations'], 'readOnlyHint') !== true
    const context = { document, samples: use?.samples ?? [], mayWrite, values: this.#valuesByName() }
    const suggestions = suggestCalls(item, context)
    // Nobody can be asked for an error that no arguments cause.
    const canFail =
      item.errors > 0 || suggestions.some(({ covers }) => covers.some((each) => each.kind === 'error'))
    return { ...item, points: item.points.filter((point) => canFail || point.kind !== 'error'), suggestions }
  }

  #prompt(name: string, prompt: JsonObject): CoveredItem {
    const listed: unknown = prompt['arguments']
    const names = (Array.isArray(listed) ? listed : []).flatMap((each) => {
      const argument = member(each, 'name')
      return typeof argument === 'string' ? [argument] : []
    })
    const use = this.#uses.get(`prompt ${name}`)
    const points = names.map((argument): CoveragePoint => ({
      kind: 'argument',
      path: [argument],
      uses: use?.paths.get(argument)?.uses ?? 0,
    }))
    const schema = {
      type: 'object',
      properties: Object.fromEntries(names.map((argument) => [argument, { type: 'string' }])),
    }
    const item = this.#item('prompt', name, points)
    const document = new SchemaDocument(schema)
    return {
      ...item,
      suggestions: suggestCalls(item, {
        document,
        samples: use?.samples ?? [],
        mayWrite: false,
        values: this.#valuesByName(),
      }),
    }
  }

  #template(template: string): CoveredItem {
    const pattern = templatePattern(template)
    const read = [...this.#uses].filter(
      ([key]) => key.startsWith('resource ') && pattern.test(key.slice('resource '.length)),
    )
    const calls = read.reduce((sum, [, use]) => sum + use.calls, 0)
    const errors = read.reduce((sum, [, use]) => sum + use.errors, 0)
    const points: readonly CoveragePoint[] = [{ kind: 'use', uses: calls }]
    const uri = expandedTemplate(template, this.#valuesByName())
    const suggestions: readonly SuggestedCall[] =
      calls > 0 ? [] : [{ kind: 'resource', name: uri, arguments: {}, covers: points, mayWrite: false }]
    return { kind: 'template', name: template, calls, errors, points, suggestions }
  }

  #item(kind: OfferKind, name: string, more: readonly CoveragePoint[]): CoveredItem {
    const { calls = 0, errors = 0 } = this.#uses.get(`${kind} ${name}`) ?? {}
    const points: readonly CoveragePoint[] = [{ kind: 'use', uses: calls }, ...more]
    const suggestions: readonly SuggestedCall[] =
      kind === 'resource' && calls === 0
        ? [{ kind, name, arguments: {}, covers: points, mayWrite: false }]
        : []
    return { kind, name, calls, errors, points, suggestions }
  }

  /** The values that recorded calls give to arguments, by the names of the arguments: other tools often take the same. */
  #valuesByName(): ReadonlyMap<string, readonly unknown[]> {
    const values = new Map<string, unknown[]>()
    for (const { samples } of this.#uses.values())
      for (const sample of samples)
        for (const [name, value] of Object.entries(isObject(sample) ? sample : {}))
          values.set(name, [...(values.get(name) ?? []), value].slice(-MOST_SAMPLES))
    return values
  }

  #isFromTemplate(key: string): boolean {
    return (
      key.startsWith('resource ') &&
      [...(this.#surface.templates?.keys() ?? [])].some((template) =>
        templatePattern(template).test(key.slice('resource '.length)),
      )
    )
  }

  #unknownLists(): readonly string[] {
    const { tools, prompts, resources, capabilities } = this.#surface
    const lists = { tools, prompts, resources }
    return Object.entries(lists).flatMap(([name, list]) =>
      list === undefined && (capabilities === undefined || member(capabilities, name) !== undefined)
        ? [name]
        : [],
    )
  }
}

interface RecordedCall {
  readonly values: unknown
  readonly isFailed: boolean
}

function addPaths(paths: Map<string, PathUse>, value: unknown, path: readonly string[]): void {
  if (path.length > DEEPEST) return
  if (path.length > 0) {
    const key = path.join('\0')
    const use = paths.get(key) ?? { uses: 0, values: new Map<string, number>() }
    paths.set(key, use)
    use.uses++
    const text = canonicalJson(value)
    if (use.values.has(text) || use.values.size < MOST_VALUES)
      use.values.set(text, (use.values.get(text) ?? 0) + 1)
  }
  if (Array.isArray(value)) for (const item of value) addPaths(paths, item, [...path, '[]'])
  else if (isObject(value))
    for (const [name, child] of Object.entries(value)) addPaths(paths, child, [...path, name])
}

const DEEPEST = 6
const MOST_ARGUMENTS = 500
const MOST_NAMED_VALUES = 100

interface DeclaredArgument {
  readonly path: readonly string[]
  /** The values that the schema names: of an enum, of constants, and of a boolean. */
  readonly values: readonly unknown[]
}

/** Every argument that a schema names, also inside of objects, lists and alternatives. */
function declaredArguments(document: SchemaDocument): readonly DeclaredArgument[] {
  const found = new Map<string, { path: readonly string[]; values: unknown[] }>()
  const visit = (nodes: readonly SchemaNode[], path: readonly string[]): void => {
    if (path.length > DEEPEST || found.size > MOST_ARGUMENTS) return
    const parts = alternativesOf(nodes, 0)
    const key = path.join('\0')
    if (path.length > 0 && path.at(-1) !== '[]' && !found.has(key)) found.set(key, { path, values: [] })
    const values = parts.flatMap(namedValues)
    if (values.length > 0) {
      const argument = found.get(key) ?? { path, values: [] }
      found.set(key, { path, values: distinct([...argument.values, ...values]).slice(0, MOST_NAMED_VALUES) })
    }
    for (const name of new Set(parts.flatMap(namedMembers)))
      visit(
        parts.flatMap((part) => {
          const schema = member(part.schema['properties'], name)
          return schema === undefined ? [] : [childNode(part, schema, 'properties', name)]
        }),
        [...path, name],
      )
    const items = parts.flatMap((part) => {
      const { first, rest } = itemSchemas(part)
      return [...first, ...(rest === undefined ? [] : [rest])]
    })
    if (items.length > 0) visit(items, [...path, '[]'])
  }
  visit([document.node], [])
  return [...found.values()].filter(({ path }) => path.length > 0)
}

function alternativesOf(nodes: readonly SchemaNode[], depth: number): readonly SchemaPart[] {
  if (depth > DEEPEST) return []
  return partsOf(nodes).parts.flatMap((part) => [
    part,
    ...(['anyOf', 'oneOf'] as const).flatMap((keyword) => {
      const options: unknown = part.schema[keyword]
      return (Array.isArray(options) ? options : []).flatMap((schema, at) =>
        alternativesOf([childNode(part, schema, keyword, at)], depth + 1),
      )
    }),
  ])
}

function namedValues({ schema }: SchemaPart): readonly unknown[] {
  const { enum: listed, type } = schema
  if (Array.isArray(listed)) return listed
  if (Object.hasOwn(schema, 'const')) return [schema['const']]
  return type === 'boolean' ? [true, false] : []
}

function distinct(values: readonly unknown[]): unknown[] {
  return [...new Map(values.map((value) => [canonicalJson(value), value])).values()]
}

/** The URIs of a resource template. An expression stands for any text; `{?…}` and `{&…}` may be absent. */
function templatePattern(template: string): RegExp {
  const source = template
    .split(/(\{[^{}]*\})/)
    .map((part) => {
      if (!/^\{.*\}$/s.test(part)) return part.replaceAll(/[\\^$.*+?()[\]{}|]/g, String.raw`\$&`)
      if (/^\{[?&#]/.test(part)) return '.*'
      return /^\{[+/]/.test(part) ? '.+' : '[^/?#]+'
    })
    .join('')
  return new RegExp(`^${source}$`, 'su')
}

/** A URI of a template, with recorded values for arguments of the same names. */
function expandedTemplate(template: string, values: ReadonlyMap<string, readonly unknown[]>): string {
  return template.replaceAll(/\{([^{}]*)\}/g, (_, expression: string) => {
    if (/^[?&#]/.test(expression)) return ''
    const name = /[\w.]+/.exec(expression)?.[0] ?? ''
    const known = values
      .get(name)
      ?.findLast((value) => typeof value === 'string' || typeof value === 'number')
    return encodeURIComponent(String(known ?? 1))
  })
}
