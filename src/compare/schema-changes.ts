import { runInThisContext } from 'node:vm'
import type { ErrorObject } from 'ajv'
import { systemErrorCode } from '../errors.ts'
import { canonicalJson } from '../json/canonical.ts'
import { isObject, member, type JsonObject } from '../json/parse.ts'
import { describeValue } from '../match/describe-request.ts'
import { compareSchemas } from '../schemas/compatibility.ts'
import { SchemaDocument } from '../schemas/schema-document.ts'
import { itemNodes, memberNodes, namedMembers, partsOf, sameWords } from '../schemas/schema-parts.ts'
import type { Witness } from '../schemas/witness.ts'
import { descriptionFindings } from './descriptions.ts'
import { finding, isFailure, type CompareRuleId, type Finding } from './rules.ts'

/** Values that were really sent or received, and how often. */
export interface RecordedValue {
  readonly value: unknown
  readonly times: number
}

export interface SchemaContext {
  readonly subject: string
  readonly tool: string
  /** Arguments and structured results that were recorded. */
  readonly calls: () => readonly RecordedValue[]
  readonly results: () => readonly RecordedValue[]
  /** Names of other tools of the server. */
  readonly others: readonly string[]
}

/** Compares the schemas of a tool. Arguments must stay valid, so inputs may only become wider; results may only become narrower. */
export function schemaFindings(
  before: JsonObject,
  after: JsonObject,
  context: SchemaContext,
): readonly Finding[] {
  const [input, newInput] = [before['inputSchema'], after['inputSchema']]
  const [output, newOutput] = [before['outputSchema'], after['outputSchema']]
  const { subject } = context
  return [
    ...withinTime(
      () => inputFindings(input ?? {}, newInput ?? {}, context),
      () => [finding('input-unknown', { subject, path: 'inputSchema', message: TOO_LONG })],
    ),
    ...withinTime(
      () => outputFindings(output, newOutput, context),
      () => [finding('output-unknown', { subject, path: 'outputSchema', message: TOO_LONG })],
    ),
    ...textsInSchema(input, newInput, 'inputSchema', context),
    ...textsInSchema(output, newOutput, 'outputSchema', context),
  ]
}

const TOO_LONG = 'the schemas take too long to compare'
const LONGEST_MS = 20_000

/**
 * Runs something that hostile schemas could make endless, for example by a pattern. The search for witnesses and the proof have limits of
 * their own; this one ends what happens inside of a single step, such as the match of a pattern.
 */
function withinTime<Result>(work: () => Result, otherwise: () => Result): Result {
  const key = Symbol.for('reelay.work')
  const holder = globalThis as { [key: symbol]: unknown }
  holder[key] = work
  try {
    return runInThisContext("globalThis[Symbol.for('reelay.work')]()", { timeout: LONGEST_MS }) as Result
  } catch (error) {
    if (systemErrorCode(error) === 'ERR_SCRIPT_EXECUTION_TIMEOUT' || error instanceof RangeError)
      return otherwise()
    throw error
  } finally {
    delete holder[key]
  }
}

function inputFindings(before: unknown, after: unknown, context: SchemaContext): readonly Finding[] {
  if (canonicalJson(before) === canonicalJson(after)) return []
  const { subject } = context
  const calls = context.calls()
  const [old, now] = [new SchemaDocument(before), new SchemaDocument(after)]
  const renamed = renamedArguments(before, after)
  const recorded = rejectedFinding('recorded-call-rejected', calls, [old, now], (error, broken, all) => ({
    subject,
    message: `breaks ${broken} of ${all} recorded calls: ${describeError(error, renamed)}`,
  }))
  const verdict = compareSchemas(ofObjects(before), after, { known: calls.map(({ value }) => value) })
  const [added, gone] = changedNames(before, after)
  const rest = [
    ...added.map((name) => finding('input-argument-added', { subject, path: name })),
    ...gone.map((name) =>
      finding('input-argument-removed', {
        subject,
        path: name,
        level: 'change',
        message: 'is no longer declared',
      }),
    ),
    ...defaultFindings(before, after, subject),
  ]
  switch (verdict.kind) {
    case 'same':
      return [...recorded, ...rest]
    case 'safe':
      return [
        ...recorded,
        ...(rest.length > 0 ? rest : [finding('input-widened', { subject, path: 'inputSchema' })]),
      ]
    case 'unknown': {
      const { path, why } = verdict.obstacle
      const message = `it is not known whether all earlier calls stay valid: ${path === '' ? '' : `${path}: `}${why}`
      return [
        ...recorded,
        finding('input-unknown', { subject, path: joined('arguments', path), message }),
        ...rest,
      ]
    }
    case 'breaking': {
      const found = verdict.witnesses.map((witness) => inputFinding(witness, old, renamed, context))
      const worst = found.some(({ level }) => isFailure(level)) ? found.filter(isNotShadowed(found)) : found
      const named = new Set(worst.map(({ path }) => path))
      return [...recorded, ...worst, ...rest.filter(({ path }) => !named.has(path))]
    }
  }
}

/** Arguments and structured results are objects, also if a schema does not say so. */
function ofObjects(schema: unknown): unknown {
  if (schema === true) return { type: 'object' }
  const isOpen = isObject(schema) && schema['type'] === undefined && schema['$ref'] === undefined
  return isOpen ? { ...schema, type: 'object' } : schema
}

/** An argument that is new and required needs no second finding about its type. */
function isNotShadowed(all: readonly Finding[]): (one: Finding) => boolean {
  const required = new Set(
    all.filter(({ rule }) => rule === 'input-argument-required').map(({ path }) => path),
  )
  return ({ rule, path }) => rule !== 'input-argument-added' || !required.has(path)
}

/** Finds recorded values that the new schema rejects and the earlier one did not. */
function rejectedFinding(
  rule: CompareRuleId,
  recorded: readonly RecordedValue[],
  [old, now]: readonly [SchemaDocument, SchemaDocument],
  describe: (error: ErrorObject, broken: number, all: number) => Pick<Finding, 'subject' | 'message'>,
): readonly Finding[] {
  const rejected = recorded.filter(
    ({ value }) => now.accepts(value) === false && old.accepts(value) !== false,
  )
  const [first] = rejected
  if (first === undefined) return []
  const [error] = now.errorsOf(first.value)
  if (error === undefined) return []
  return [finding(rule, { ...describe(error, timesOf(rejected), timesOf(recorded)), witness: first.value })]
}

function timesOf(recorded: readonly RecordedValue[]): number {
  return recorded.reduce((sum, { times }) => sum + times, 0)
}

function inputFinding(
  { value, error }: Witness,
  old: SchemaDocument,
  renamed: ReadonlyMap<string, string>,
  { subject, tool }: SchemaContext,
): Finding {
  const path = pathOf(error)
  const isNew = !isDeclared(old, error)
  const rule =
    isNew && !isClosing(error) && error.keyword !== 'required'
      ? 'input-argument-added'
      : inputRule(error, old)
  return finding(rule, {
    subject,
    path,
    message: describeError(error, renamed),
    ...(rule === 'input-argument-added' && {
      level: 'change',
      message: `is new: a call that already sent it with another value breaks (${describeError(error, renamed)})`,
    }),
    witness: { name: tool, arguments: value },
  })
}

function isClosing({ keyword }: ErrorObject): boolean {
  return keyword === 'additionalProperties' || keyword === 'unevaluatedProperties'
}

function inputRule(error: ErrorObject, old: SchemaDocument): CompareRuleId {
  if (isClosing(error)) return isDeclared(old, error) ? 'input-argument-removed' : 'input-closed'
  return (
    INPUT_RULES[error.keyword] ?? (BOUNDS.has(error.keyword) ? 'input-bound-tightened' : 'input-narrowed')
  )
}

const INPUT_RULES: Readonly<Record<string, CompareRuleId>> = {
  required: 'input-argument-required',
  type: 'input-type-narrowed',
  enum: 'input-enum-narrowed',
  const: 'input-enum-narrowed',
  pattern: 'input-pattern-changed',
  format: 'input-pattern-changed',
}

const BOUNDS: ReadonlySet<string> = new Set([
  'minimum',
  'maximum',
  'exclusiveMinimum',
  'exclusiveMaximum',
  'multipleOf',
  'minLength',
  'maxLength',
  'minItems',
  'maxItems',
  'uniqueItems',
  'minProperties',
  'maxProperties',
  'minContains',
  'maxContains',
])

function outputFindings(before: unknown, after: unknown, context: SchemaContext): readonly Finding[] {
  if (canonicalJson(before) === canonicalJson(after)) return []
  const { subject } = context
  if (before === undefined) return [finding('output-schema-added', { subject, path: 'outputSchema' })]
  if (after === undefined) return [finding('output-schema-removed', { subject, path: 'outputSchema' })]
  const [old, now] = [new SchemaDocument(before), new SchemaDocument(after)]
  const results = context.results()
  const recorded = rejectedFinding('recorded-result-rejected', results, [old, now], (error, broken, all) => ({
    subject,
    message: `${broken} of ${all} recorded results are not valid by the new outputSchema: ${describeError(error)}`,
  }))
  const verdict = compareSchemas(ofObjects(after), before, { known: results.map(({ value }) => value) })
  switch (verdict.kind) {
    case 'same':
      return recorded
    case 'safe':
      return [...recorded, finding('output-narrowed', { subject, path: 'outputSchema' })]
    case 'unknown': {
      const { path, why } = verdict.obstacle
      const message = `it is not known whether all results stay as promised: ${path === '' ? '' : `${path}: `}${why}`
      return [
        ...recorded,
        finding('output-unknown', { subject, path: joined('structuredContent', path), message }),
      ]
    }
    case 'breaking':
      return [...recorded, ...verdict.witnesses.map((witness) => outputFinding(witness, now, subject))]
  }
}

function outputFinding({ value, error }: Witness, now: SchemaDocument, subject: string): Finding {
  const isNewField = isClosing(error) && isDeclared(now, error)
  const rule = isNewField ? 'output-field-added' : (OUTPUT_RULES[error.keyword] ?? 'output-widened')
  return finding(rule, {
    subject,
    path: pathOf(error),
    message: `a result may be ${describeValue(value, 120)}, which the earlier outputSchema excluded: ${describeError(error)}`,
    witness: value,
  })
}

const OUTPUT_RULES: Readonly<Record<string, CompareRuleId>> = {
  required: 'output-field-lost',
  type: 'output-type-widened',
  enum: 'output-enum-widened',
  const: 'output-enum-widened',
}

/** The path of what an error is about: a missing or additional member, or a value. */
function pathOf(error: ErrorObject): string {
  return segmentsOf(error)
    .map((segment, at) => (/^\d+$/u.test(segment) ? `[${segment}]` : at === 0 ? segment : `.${segment}`))
    .join('')
}

function segmentsOf({ instancePath, params }: ErrorObject): readonly string[] {
  const path = instancePath
    .split('/')
    .slice(1)
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'))
  const about: unknown =
    params['missingProperty'] ?? params['additionalProperty'] ?? params['unevaluatedProperty']
  return typeof about === 'string' ? [...path, about] : path
}

/** Returns true if a schema names every member on the way to what an error is about. */
function isDeclared(document: SchemaDocument, error: ErrorObject): boolean {
  let nodes: Parameters<typeof partsOf>[0] = [document.node]
  for (const segment of segmentsOf(error)) {
    const { parts } = partsOf(withAlternatives(nodes))
    const isItem =
      /^\d+$/u.test(segment) &&
      parts.some(({ schema }) => schema['items'] !== undefined || schema['prefixItems'] !== undefined)
    const isNamed = parts.some(
      (part) => namedMembers(part).includes(segment) || matchesOwnPattern(part.schema, segment),
    )
    if (!isItem && !isNamed) return false
    nodes = isItem ? itemNodes(parts, Number(segment)) : memberNodes(parts, segment)
  }
  return true
}

type Nodes = Parameters<typeof partsOf>[0]

/** Alternatives name members too. */
function withAlternatives(nodes: Nodes): Nodes {
  const { parts } = partsOf(nodes)
  const inside = parts.flatMap((part) =>
    ['anyOf', 'oneOf'].flatMap((keyword) => {
      const list = part.schema[keyword]
      return Array.isArray(list)
        ? list.map((schema: unknown, at) => ({
            document: part.document,
            pointer: `${part.pointer}/${keyword}/${at}`,
            schema,
          }))
        : []
    }),
  )
  return [...nodes, ...inside]
}

function matchesOwnPattern(schema: JsonObject, name: string): boolean {
  const patterns = schema['patternProperties']
  return (
    isObject(patterns) &&
    memberNodes(
      [{ document: new SchemaDocument(true), pointer: '', schema: { patternProperties: patterns } }],
      name,
    ).length > 0
  )
}

/** What is wrong, as a sentence without a subject. */
function describeError(error: ErrorObject, renamed: ReadonlyMap<string, string> = new Map()): string {
  const { keyword, params, instancePath } = error
  const where = instancePath === '' ? '' : `${pathOf({ ...error, params: {} })} `
  switch (keyword) {
    case 'required': {
      const name = String(params['missingProperty'])
      const old = instancePath === '' ? renamed.get(name) : undefined
      if (old !== undefined) return `required ${JSON.stringify(old)} is now ${JSON.stringify(name)}`
      return `${where === '' ? '' : `in ${where}`}required ${JSON.stringify(name)} is missing`
    }
    case 'additionalProperties':
      return `${where}must not have ${JSON.stringify(params['additionalProperty'])}`
    case 'unevaluatedProperties':
      return `${where}must not have ${JSON.stringify(params['unevaluatedProperty'])}`
    case 'enum':
      return `${where}must be one of ${describeValue(params['allowedValues'], 80)}`
    default:
      return `${where}${error.message ?? 'is invalid'}`
  }
}

/** Earlier names of required arguments by their new names, where only the name has changed. */
function renamedArguments(before: unknown, after: unknown): ReadonlyMap<string, string> {
  const [added, gone] = changedNames(before, after)
  const pairs = new Map<string, string>()
  for (const name of added) {
    const words = sameWords(propertyOf(after, name))
    const old = gone.find(
      (each) => ![...pairs.values()].includes(each) && sameWords(propertyOf(before, each)) === words,
    )
    if (old !== undefined && words !== undefined) pairs.set(name, old)
  }
  return pairs
}

/** Names of arguments that only the new schema has, and those that only the earlier one has. */
function changedNames(before: unknown, after: unknown): readonly [readonly string[], readonly string[]] {
  const [then, now] = [before, after].map((schema) => {
    const properties = member(schema, 'properties')
    return isObject(properties) ? Object.keys(properties) : []
  })
  if (then === undefined || now === undefined) return [[], []]
  return [now.filter((name) => !then.includes(name)), then.filter((name) => !now.includes(name))]
}

function propertyOf(schema: unknown, name: string): unknown {
  return member(member(schema, 'properties'), name)
}

function defaultFindings(
  before: unknown,
  after: unknown,
  subject: string,
  path = '',
  depth = 0,
): readonly Finding[] {
  const [then, now] = [member(before, 'properties'), member(after, 'properties')]
  if (!isObject(then) || !isObject(now) || depth > 10) return []
  return Object.keys(now).flatMap((name): readonly Finding[] => {
    if (!Object.hasOwn(then, name)) return []
    const [old, value] = [member(then[name], 'default'), member(now[name], 'default')]
    const here = joined(path, name)
    const own =
      canonicalJson(old) === canonicalJson(value)
        ? []
        : [finding('input-default-changed', { subject, path: here, before: old, after: value })]
    return [...own, ...defaultFindings(then[name], now[name], subject, here, depth + 1)]
  })
}

function joined(path: string, inside: string): string {
  if (path === '' || inside === '') return `${path}${inside}`
  return inside.startsWith('[') ? `${path}${inside}` : `${path}.${inside}`
}

/** Texts of a schema that a model reads: descriptions, names, constants and examples. What is new in them is classed as in a description. */
function textsInSchema(
  before: unknown,
  after: unknown,
  path: string,
  { subject, others }: SchemaContext,
): readonly Finding[] {
  if (canonicalJson(before) === canonicalJson(after)) return []
  const [then, now] = [schemaTexts(before), schemaTexts(after)]
  return [...now].flatMap(([place, text]) => {
    const old = then.get(place)
    if (old === text) return []
    const found = descriptionFindings(old ?? '', text, { subject, path: joined(path, place), others })
    return old === undefined ? found.filter(({ level }) => isFailure(level)) : found
  })
}

const MOST_TEXTS = 2_000

/** The texts of a schema by their places. */
export function schemaTexts(schema: unknown): ReadonlyMap<string, string> {
  const found = new Map<string, string>()
  const visit = (value: unknown, path: string, depth: number): void => {
    if (found.size > MOST_TEXTS || depth > 60) return
    if (Array.isArray(value)) {
      const words = value.filter((item) => typeof item === 'string').join('\n')
      if (words !== '' && !path.endsWith('required') && !path.endsWith('type')) found.set(path, words)
      for (const [at, item] of value.entries())
        if (typeof item === 'object') visit(item, `${path}[${at}]`, depth + 1)
      return
    }
    if (!isObject(value)) return
    for (const [name, inside] of Object.entries(value)) {
      const here = joined(path, name)
      if (typeof inside === 'string') {
        if (!STRUCTURE.has(name)) found.set(here, inside)
      } else visit(inside, here, depth + 1)
      if (path.endsWith('properties')) found.set(`${here} (name)`, name)
    }
  }
  visit(schema, '', 0)
  return found
}

/** Members of a schema whose texts are not for people or models. */
const STRUCTURE: ReadonlySet<string> = new Set([
  'type',
  '$ref',
  '$schema',
  '$id',
  'format',
  'pattern',
  '$anchor',
])
