import { canonicalJson } from '../json/canonical.ts'
import { isObject, member, type JsonObject } from '../json/parse.ts'
import { shortenValue } from '../match/describe-request.ts'
import { commonAffixLength } from '../text.ts'
import { descriptionFindings } from './descriptions.ts'
import { finding, isFailure, type CompareRuleId, type Finding } from './rules.ts'
import { schemaFindings, schemaTexts, type RecordedValue } from './schema-changes.ts'
import type { ServerSurface } from './surface.ts'

export interface SurfaceComparison {
  readonly findings: readonly Finding[]
  /** Earlier names of tools by their new names. */
  readonly renamedTools: ReadonlyMap<string, string>
}

/** Compares what a server offered with what it offers now. A list that was not asked for on one side is not compared. */
export function compareSurfaces(
  before: ServerSurface,
  after: ServerSurface,
  recorded: RecordedTools = NOTHING_RECORDED,
): SurfaceComparison {
  const tools = matchItems(before.tools, after.tools, after.unfinished?.has('tools'))
  const prompts = matchItems(before.prompts, after.prompts, after.unfinished?.has('prompts'))
  const resources = matchItems(before.resources, after.resources, after.unfinished?.has('resources'))
  const templates = matchItems(before.templates, after.templates, after.unfinished?.has('templates'))
  const toolNames = [...(after.tools?.keys() ?? [])]
  return {
    findings: [
      ...serverFindings(before, after, toolNames),
      ...listFindings(tools, 'tool'),
      ...tools.pairs.flatMap((pair) => toolFindings(pair, toolNames, recorded)),
      ...tools.added.flatMap((name) => newToolFindings(name, after.tools?.get(name) ?? {}, toolNames)),
      ...listFindings(prompts, 'prompt'),
      ...prompts.pairs.flatMap((pair) => promptFindings(pair, toolNames)),
      ...listFindings(resources, 'resource'),
      ...resources.pairs.flatMap((pair) => resourceFindings(pair, toolNames)),
      ...listFindings(templates, 'template'),
    ],
    renamedTools: new Map(
      tools.pairs.filter(({ from, to }) => from !== to).map(({ from, to }) => [to, from]),
    ),
  }
}

type ItemKind = 'tool' | 'prompt' | 'resource' | 'template'

/** An item of a list before and after. Its names differ if it was renamed. */
interface ItemPair {
  readonly from: string
  readonly to: string
  readonly before: JsonObject
  readonly after: JsonObject
}

interface ItemMatches {
  readonly pairs: readonly ItemPair[]
  readonly removed: readonly string[]
  readonly added: readonly string[]
}

function matchItems(
  before: ReadonlyMap<string, JsonObject> | undefined,
  after: ReadonlyMap<string, JsonObject> | undefined,
  isUnfinished = false,
): ItemMatches {
  if (before === undefined || after === undefined) return { pairs: [], removed: [], added: [] }
  const pairs: ItemPair[] = []
  for (const [name, item] of before) {
    const now = after.get(name)
    if (now !== undefined) pairs.push({ from: name, to: name, before: item, after: now })
  }
  const gone = [...before.keys()].filter((name) => !after.has(name))
  const isNew = new Set([...after.keys()].filter((name) => !before.has(name)))
  const removed: string[] = []
  for (const name of gone) {
    const item = before.get(name)
    const renamed = item && mostSimilar(name, item, isNew, after)
    const now = renamed === undefined ? undefined : after.get(renamed)
    if (item === undefined || renamed === undefined || now === undefined) {
      removed.push(name)
      continue
    }
    isNew.delete(renamed)
    pairs.push({ from: name, to: renamed, before: item, after: now })
  }
  // What is missing may be on a page that was not asked for.
  return { pairs, removed: isUnfinished ? [] : removed, added: [...isNew] }
}

/** The new item that a missing one was most likely renamed to. */
function mostSimilar(
  name: string,
  item: JsonObject,
  candidates: ReadonlySet<string>,
  after: ReadonlyMap<string, JsonObject>,
): string | undefined {
  if (candidates.size > MOST_CANDIDATES) return undefined
  const rated = Array.from(candidates, (each) => ({
    each,
    score: similarity(item, after.get(each) ?? {}) + nameSimilarity(name, each),
  }))
  rated.sort((a, b) => b.score - a.score)
  const [best, second] = rated
  if (best === undefined || best.score < LEAST_SIMILARITY) return undefined
  return second !== undefined && second.score === best.score ? undefined : best.each
}

const MOST_CANDIDATES = 1_000
const LEAST_SIMILARITY = 0.7

/** From 0 to 1: the schema of the arguments counts half, the description the other half. */
function similarity(before: JsonObject, after: JsonObject): number {
  const [then, now] = [shapeOf(before), shapeOf(after)]
  const shape = then === undefined && now === undefined ? undefined : shapeSimilarity(then, now)
  const [oldText, newText] = [textOf(before), textOf(after)]
  const text = oldText === '' && newText === '' ? undefined : wordSimilarity(oldText, newText)
  const known = [shape, text].filter((score) => score !== undefined)
  return known.length === 0 ? 0 : known.reduce((sum, score) => sum + score, 0) / known.length
}

function shapeOf(item: JsonObject): unknown {
  return item['inputSchema'] ?? item['arguments'] ?? item['mimeType']
}

function shapeSimilarity(before: unknown, after: unknown): number {
  if (canonicalJson(before) === canonicalJson(after)) return isEmptySchema(before) ? 0.6 : 1
  const [then, now] = [argumentNames(before), argumentNames(after)]
  if (then.length === 0 || now.length === 0) return 0
  const shared = then.filter((name) => now.includes(name)).length
  return (2 * shared) / (then.length + now.length)
}

function isEmptySchema(schema: unknown): boolean {
  return argumentNames(schema).length === 0
}

function argumentNames(shape: unknown): readonly string[] {
  if (Array.isArray(shape)) return shape.map((one) => String(member(one, 'name')))
  const properties = member(shape, 'properties')
  return isObject(properties) ? Object.keys(properties) : []
}

function textOf(item: JsonObject): string {
  const { description, title } = item
  return [title, description].filter((text) => typeof text === 'string').join(' ')
}

function wordSimilarity(before: string, after: string): number {
  const [then, now] = [before, after].map((text) => new Set(text.toLowerCase().match(/\p{L}+/gu)))
  if (then === undefined || now === undefined || then.size + now.size === 0) return 0
  const shared = [...then].filter((word) => now.has(word)).length
  return (2 * shared) / (then.size + now.size)
}

/** `getTinyImage` and `get-tiny-image` are the same name in two styles. */
function nameSimilarity(before: string, after: string): number {
  const [then, now] = [before, after].map((name) => name.toLowerCase().replaceAll(/[^\p{L}\p{N}]/gu, ''))
  if (then === undefined || now === undefined || then === now) return 0.5
  return (0.2 * commonAffixLength(then, now)) / Math.max(then.length, now.length, 1)
}

function listFindings({ pairs, removed, added }: ItemMatches, kind: ItemKind): readonly Finding[] {
  const renamed = pairs.filter(({ from, to }) => from !== to)
  const renamedRule: CompareRuleId = kind === 'template' ? 'template-removed' : (`${kind}-renamed` as const)
  return [
    ...removed.map((name) => finding(`${kind}-removed`, { subject: `${kind} ${name}` })),
    ...renamed.map(({ from, to }) =>
      finding(renamedRule, {
        subject: `${kind} ${from}`,
        message: `is now called ${to}`,
        before: from,
        after: to,
      }),
    ),
    ...added.map((name) => finding(`${kind}-added`, { subject: `${kind} ${name}` })),
  ]
}

/** Calls and results of tools that were recorded with the earlier server, by the name of the tool. */
export interface RecordedTools {
  readonly calls: (tool: string) => readonly RecordedValue[]
  readonly results: (tool: string) => readonly RecordedValue[]
}

const NOTHING_RECORDED: RecordedTools = { calls: () => [], results: () => [] }

/** A new tool breaks nobody, but its texts are all new. */
function newToolFindings(name: string, tool: JsonObject, toolNames: readonly string[]): readonly Finding[] {
  const subject = `tool ${name}`
  const others = toolNames.filter((each) => each !== name)
  const texts = [...textFindings({}, tool, { subject, others })]
  for (const schema of ['inputSchema', 'outputSchema'])
    for (const [place, text] of schemaTexts(tool[schema]))
      texts.push(...descriptionFindings('', text, { subject, path: `${schema}.${place}`, others }))
  return texts.filter(({ level }) => isFailure(level))
}

function toolFindings(
  pair: ItemPair,
  toolNames: readonly string[],
  { calls, results }: RecordedTools,
): readonly Finding[] {
  const { before, after } = pair
  const subject = `tool ${pair.from}`
  const others = toolNames.filter((name) => name !== pair.to && name !== pair.from)
  return [
    ...schemaFindings(before, after, {
      subject,
      tool: pair.to,
      others,
      calls: () => calls(pair.from),
      results: () => results(pair.from),
    }),
    ...textFindings(before, after, { subject, others }),
    ...annotationFindings(before['annotations'], after['annotations'], subject),
    ...metaFindings(before, after, subject, ['icons', 'execution']),
  ]
}

interface TextContext {
  readonly subject: string
  /** Names of other tools of the server. */
  readonly others: readonly string[]
}

/** Compares the texts of an item that a model or a user reads. */
function textFindings(
  before: JsonObject,
  after: JsonObject,
  { subject, others }: TextContext,
): readonly Finding[] {
  return ['title', 'description'].flatMap((name) => {
    const [then, now] = [before[name], after[name]]
    if (then === now) return []
    const [old, text] = [then, now].map((value) => (typeof value === 'string' ? value : ''))
    return descriptionFindings(old ?? '', text ?? '', { subject, path: name, others })
  })
}

/** The value of each hint if a tool does not declare it, as the specification says. */
const HINTS = [
  { name: 'readOnlyHint', default: false, weaker: false, rule: 'annotation-read-only-lost' },
  { name: 'destructiveHint', default: true, weaker: true, rule: 'annotation-destructive-added' },
  { name: 'idempotentHint', default: false, weaker: false, rule: 'annotation-idempotent-lost' },
  { name: 'openWorldHint', default: true, weaker: true, rule: 'annotation-open-world-added' },
] as const

function annotationFindings(before: unknown, after: unknown, subject: string): readonly Finding[] {
  if (canonicalJson(before) === canonicalJson(after)) return []
  const hints = HINTS.flatMap((hint): readonly Finding[] => {
    const [then, now] = [before, after].map((one) => {
      const value = member(one, hint.name)
      return typeof value === 'boolean' ? value : hint.default
    })
    if (then === now) return []
    const path = `annotations.${hint.name}`
    // A tool that only reads destroys nothing and can be repeated, whatever its other hints say.
    const isWithoutEffect = hint.name === 'destructiveHint' && member(after, 'readOnlyHint') === true
    const rule = now === hint.weaker && !isWithoutEffect ? hint.rule : 'annotation-changed'
    return [finding(rule, { subject, path, before: then, after: now })]
  })
  const own = Object.keys({ ...(isObject(before) && before), ...(isObject(after) && after) }).filter(
    (name) => !HINTS.some((hint) => hint.name === name),
  )
  const others = own.flatMap((name): readonly Finding[] => {
    const [then, now] = [member(before, name), member(after, name)]
    if (canonicalJson(then) === canonicalJson(now)) return []
    if (name === 'title' && typeof now === 'string')
      return descriptionFindings(typeof then === 'string' ? then : '', now, {
        subject,
        path: 'annotations.title',
        others: [],
      })
    return [finding('annotation-changed', { subject, path: `annotations.${name}`, before: then, after: now })]
  })
  return [...hints, ...others]
}

function metaFindings(
  before: JsonObject,
  after: JsonObject,
  subject: string,
  names: readonly string[],
): readonly Finding[] {
  const [then, now] = [before, after].map((item) => member(item, '_meta'))
  const [oldUi, newUi] = [uiOf(then), uiOf(now)]
  const found: Finding[] = []
  if (canonicalJson(oldUi) !== canonicalJson(newUi))
    found.push(
      finding('ui-changed', {
        subject,
        path: '_meta.ui',
        before: shortenValue(oldUi),
        after: shortenValue(newUi),
      }),
    )
  if (canonicalJson(withoutUi(then)) !== canonicalJson(withoutUi(now)))
    found.push(
      finding('meta-changed', {
        subject,
        path: '_meta',
        before: shortenValue(then),
        after: shortenValue(now),
      }),
    )
  for (const name of names) {
    const [old, value] = [member(before, name), member(after, name)]
    if (canonicalJson(old) !== canonicalJson(value))
      found.push(
        finding('meta-changed', {
          subject,
          path: name,
          before: shortenValue(old),
          after: shortenValue(value),
        }),
      )
  }
  return found
}

/** `_meta.ui`, and the flat form of earlier drafts of MCP Apps. */
function uiOf(meta: unknown): unknown {
  const entries = isObject(meta) ? Object.entries(meta).filter(([name]) => isUi(name)) : []
  return entries.length === 0 ? undefined : Object.fromEntries(entries)
}

function withoutUi(meta: unknown): unknown {
  const entries = isObject(meta) ? Object.entries(meta).filter(([name]) => !isUi(name)) : []
  return entries.length === 0 ? undefined : Object.fromEntries(entries)
}

function isUi(name: string): boolean {
  return name === 'ui' || name.startsWith('ui/') || name === 'openai/outputTemplate'
}

function promptFindings({ from, before, after }: ItemPair, others: readonly string[]): readonly Finding[] {
  const subject = `prompt ${from}`
  const [then, now] = [promptArguments(before), promptArguments(after)]
  const found: Finding[] = [...textFindings(before, after, { subject, others })]
  for (const [name, argument] of now) {
    const old = then.get(name)
    const path = `arguments.${name}`
    const isRequired = member(argument, 'required') === true
    if (isRequired && member(old, 'required') !== true)
      found.push(finding('prompt-argument-required', { subject, path }))
    else if (old === undefined) found.push(finding('prompt-argument-added', { subject, path }))
    if (old !== undefined && isObject(old) && isObject(argument))
      found.push(...textFindings(old, argument, { subject: `${subject}, argument ${name}`, others }))
  }
  for (const name of then.keys())
    if (!now.has(name)) found.push(finding('prompt-argument-removed', { subject, path: `arguments.${name}` }))
  return [...found, ...metaFindings(before, after, subject, ['icons'])]
}

function promptArguments(prompt: JsonObject): ReadonlyMap<string, unknown> {
  const list = prompt['arguments']
  if (!Array.isArray(list)) return new Map()
  return new Map(list.map((one: unknown) => [String(member(one, 'name')), one]))
}

function resourceFindings({ from, before, after }: ItemPair, others: readonly string[]): readonly Finding[] {
  const subject = `resource ${from}`
  const [then, now] = [before['mimeType'], after['mimeType']]
  return [
    ...(then === now || then === undefined
      ? []
      : [finding('resource-type-changed', { subject, path: 'mimeType', before: then, after: now })]),
    ...textFindings(before, after, { subject, others }),
    ...metaFindings(before, after, subject, []),
  ]
}

function serverFindings(
  before: ServerSurface,
  after: ServerSurface,
  tools: readonly string[],
): readonly Finding[] {
  const subject = 'server'
  const found: Finding[] = []
  if (canonicalJson(before.info) !== canonicalJson(after.info) && before.info && after.info)
    found.push(
      finding('server-changed', {
        subject,
        message: `is ${serverName(after.info)}, before ${serverName(before.info)}`,
        before: shortenValue(before.info),
        after: shortenValue(after.info),
      }),
    )
  if (before.protocolVersion !== after.protocolVersion && before.protocolVersion && after.protocolVersion)
    found.push(
      finding('protocol-changed', { subject, before: before.protocolVersion, after: after.protocolVersion }),
    )
  found.push(...capabilityFindings(before.capabilities, after.capabilities, subject))
  if (before.instructions !== after.instructions) {
    if (after.instructions === undefined)
      found.push(finding('instructions-removed', { subject, path: 'instructions' }))
    else
      found.push(
        ...descriptionFindings(before.instructions ?? '', after.instructions, {
          subject,
          path: 'instructions',
          others: [],
          ownTools: tools,
        }),
      )
  }
  return found
}

function serverName(info: JsonObject): string {
  return [info['name'], info['version']].filter((word) => typeof word === 'string').join(' ')
}

function capabilityFindings(
  before: JsonObject | undefined,
  after: JsonObject | undefined,
  subject: string,
): readonly Finding[] {
  if (before === undefined || after === undefined) return []
  const [then, now] = [capabilityPaths(before), capabilityPaths(after)]
  return [
    ...[...then]
      .filter((path) => !now.has(path) && !hasParentIn(path, then, now))
      .map((path) => finding('capability-removed', { subject, path })),
    ...[...now]
      .filter((path) => !then.has(path) && !hasParentIn(path, now, then))
      .map((path) => finding('capability-added', { subject, path })),
  ]
}

/** Returns true if a path is inside of one that is missing too, which is then reported instead. */
function hasParentIn(path: string, own: ReadonlySet<string>, other: ReadonlySet<string>): boolean {
  const parent = path.slice(0, path.lastIndexOf('.'))
  return own.has(parent) && !other.has(parent)
}

/** The capabilities that are on, as `capabilities.resources.subscribe`. */
function capabilityPaths(capabilities: JsonObject, path = 'capabilities', depth = 0): ReadonlySet<string> {
  const paths = new Set<string>()
  for (const [name, value] of Object.entries(capabilities)) {
    if (value === false || value === null || value === undefined) continue
    const inside = `${path}.${name}`
    paths.add(inside)
    if (isObject(value) && depth < 4)
      for (const each of capabilityPaths(value, inside, depth + 1)) paths.add(each)
  }
  return paths
}
