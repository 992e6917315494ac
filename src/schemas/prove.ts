import { canonicalJson } from '../json/canonical.ts'
import { isObject, type JsonObject } from '../json/parse.ts'
import { isWithoutTexts } from './pattern-language.ts'
import { matchesPattern, pointerTo, SchemaDocument, type SchemaNode } from './schema-document.ts'
import {
  childNode,
  entriesOf,
  itemNodes,
  itemSchemas,
  memberNodes,
  namedMembers,
  partsOf,
  requiredNames,
  sameWords,
  texts,
  typesNamed,
  unknownInside,
  unknownKeyword,
  type SchemaPart,
  type SchemaValueType,
} from './schema-parts.ts'
import {
  boundOf,
  integersOf,
  isAtLeast,
  isAtMost,
  requiredBy,
  typesOf,
  ValueFacts,
  valuesListed,
} from './value-facts.ts'

/** Where a proof stopped, and why. */
export interface ProofObstacle {
  /** Path in the value, such as `items[*].id`; empty for the value itself. */
  readonly path: string
  readonly why: string
}

/**
 * Tries to prove that every value that is valid by the first schema is valid by the second. Returns `undefined` if that is proven, otherwise
 * the place that stopped the proof, which proves nothing. Each step is sound: a constraint of the second schema has to follow from
 * constraints of the first. What is not known is never assumed.
 */
export function proveSubset(
  narrow: SchemaDocument,
  wide: SchemaDocument,
  { isOver = () => false }: { readonly isOver?: () => boolean } = {},
): ProofObstacle | undefined {
  const problem = narrow.problem ?? wide.problem
  if (problem !== undefined) return { path: '', why: `a schema cannot be used: ${problem}` }
  try {
    return new SubsetProof(isOver).subset([narrow.node], wide.node, {
      path: '',
      level: 0,
      goals: new Map(),
    })
  } catch (error) {
    if (error instanceof RangeError || error instanceof ProofTooLong)
      return { path: '', why: 'the proof takes too long' }
    throw error
  }
}

class ProofTooLong extends Error {}

/** The way to the current goal. */
interface ProofContext {
  readonly path: string
  /** How deep the current value is inside of the whole one. */
  readonly level: number
  /** The goals on the way, with their levels: a goal that comes back deeper inside holds by induction. */
  readonly goals: ReadonlyMap<string, number>
}

type Step = ProofObstacle | undefined

const MOST_STEPS = 20_000
const DEEPEST_LEVEL = 40
const MOST_SPLITS = 6
const MOST_CASE_SPLITS = 4
const MOST_VALUES = 2_000

class SubsetProof {
  readonly #isOver: () => boolean
  readonly #documents = new Map<SchemaDocument, number>()
  #steps = 0

  constructor(isOver: () => boolean) {
    this.#isOver = isOver
  }

  /** All values of the schemas on the left are values of the schema on the right. */
  subset(left: readonly SchemaNode[], right: SchemaNode, context: ProofContext, splits = 0): Step {
    if (++this.#steps > MOST_STEPS || (this.#steps % 64 === 0 && this.#isOver())) throw new ProofTooLong()
    const stop = (why: string): ProofObstacle => ({ path: context.path, why })
    if (context.level > DEEPEST_LEVEL) return stop('the schemas are nested too deeply')
    const goal = this.#goalKey(left, right)
    const known = context.goals.get(goal)
    if (known !== undefined) return known < context.level ? undefined : stop('a reference leads to itself')
    const inner = { ...context, goals: new Map(context.goals).set(goal, context.level) }
    const [ours, theirs] = [partsOf(left), partsOf([right])]
    if (ours.stopped !== undefined || theirs.stopped !== undefined)
      return stop(ours.stopped ?? theirs.stopped ?? '')
    const odd = this.#unknownPart(ours.parts, theirs.parts)
    if (odd !== undefined) return stop(`${odd} is not known`)
    if (ours.isNever) return undefined
    const types = typesOf(ours.parts)
    if (types.size === 0) return undefined
    const values = this.#finiteValues(left, ours.parts, types)
    if (values !== undefined) return this.#valuesIn(values, right, context)
    const found = theirs.isNever
      ? stop('nothing is valid any more')
      : this.#eachPart(left, ours.parts, theirs.parts, types, inner)
    if (found === undefined || splits >= MOST_SPLITS) return found
    return this.#bySplitting(left, ours.parts, right, types, context, splits) ? undefined : found
  }

  #goalKey(left: readonly SchemaNode[], right: SchemaNode): string {
    const name = ({ document, pointer }: SchemaNode): string => {
      if (!this.#documents.has(document)) this.#documents.set(document, this.#documents.size)
      return `${this.#documents.get(document)}#${pointer}`
    }
    return `${[...new Set(left.map(name))].toSorted().join(' ')} < ${name(right)}`
  }

  /** A keyword or format that is not known is harmless only if both sides have the same schema there. */
  #unknownPart(ours: readonly SchemaPart[], theirs: readonly SchemaPart[]): string | undefined {
    for (const [some, others] of [
      [ours, theirs],
      [theirs, ours],
    ] as const)
      for (const part of some) {
        const odd = unknownKeyword(part)
        if (odd !== undefined && !hasSameWords(part, others)) return odd
      }
    return undefined
  }

  /** All values, if there are few: of `enum` and `const`, and of the types that have one or two values. */
  #finiteValues(
    left: readonly SchemaNode[],
    parts: readonly SchemaPart[],
    types: ReadonlySet<SchemaValueType>,
  ): readonly unknown[] | undefined {
    const lists = parts.flatMap(({ schema, document }): (readonly unknown[])[] => [
      ...(Array.isArray(schema['enum']) ? [schema['enum'] as readonly unknown[]] : []),
      ...(Object.hasOwn(schema, 'const') && document.draft !== 'draft-04' ? [[schema['const']]] : []),
    ])
    for (const part of parts)
      for (const keyword of ['anyOf', 'oneOf'] as const) {
        const listed = branchesOf(part, keyword).map(({ schema, document }) =>
          document.draft === 'draft-04' && isObject(schema) && schema['enum'] === undefined
            ? undefined
            : valuesListed(schema),
        )
        if (listed.length > 0 && listed.every((values) => values !== undefined)) lists.push(listed.flat())
      }
    if ([...types].every((type) => type === 'null' || type === 'boolean'))
      lists.push([...(types.has('null') ? [null] : []), ...(types.has('boolean') ? [true, false] : [])])
    const range = integersOf(parts, types)
    if (range !== undefined) lists.push(range)
    const [shortest] = lists.toSorted((one, other) => one.length - other.length)
    if (shortest === undefined || shortest.length > MOST_VALUES) return undefined
    return shortest.filter((value) => !left.some((node) => acceptsNode(node, value) === false))
  }

  #valuesIn(values: readonly unknown[], right: SchemaNode, { path }: ProofContext): Step {
    if (values.length === 0) return undefined
    const odd = unknownInside(right)
    if (odd !== undefined) return { path, why: `${odd} is not known` }
    const rejected = values.find((value) => acceptsNode(right, value) !== true)
    return rejected === undefined
      ? undefined
      : { path, why: `${canonicalJson(rejected)} may no longer be valid` }
  }

  #eachPart(
    left: readonly SchemaNode[],
    ours: readonly SchemaPart[],
    theirs: readonly SchemaPart[],
    types: ReadonlySet<SchemaValueType>,
    context: ProofContext,
  ): Step {
    for (const part of theirs) {
      if (hasSameWords(part, ours)) continue
      const found = this.#onePart({ left, ours, part, types, facts: new ValueFacts(ours, types) }, context)
      if (found !== undefined) return found
    }
    return undefined
  }

  #onePart(goal: PartGoal, context: ProofContext): Step {
    const { part, types } = goal
    const stop = (why: string): ProofObstacle => ({ path: context.path, why })
    const { schema } = part
    if (schema['type'] !== undefined) {
      const allowed = typesNamed(schema['type'])
      const extra = [...types].find((type) => !allowed.has(type))
      if (extra !== undefined)
        return stop(`the type ${extra === 'fraction' ? 'number' : extra} may no longer be valid`)
    }
    if ((schema['enum'] !== undefined && !isLongEnumWithin(goal)) || Object.hasOwn(schema, 'const'))
      return stop('only some values are valid')
    return (
      this.#scalars(goal, stop) ??
      (types.has('object') ? this.#objects(goal, context, stop) : undefined) ??
      (types.has('array') ? this.#arrays(goal, context, stop) : undefined) ??
      this.#combinations(goal, context, stop)
    )
  }

  #scalars({ part: { schema }, facts, types, left }: PartGoal, stop: (why: string) => ProofObstacle): Step {
    if (types.has('integer') || types.has('fraction')) {
      const { minimum, maximum, exclusiveMinimum, exclusiveMaximum, multipleOf } = schema
      const [least, most] = [
        boundOf(minimum, exclusiveMinimum, Math.max),
        boundOf(maximum, exclusiveMaximum, Math.min),
      ]
      if (least !== undefined && !isAtLeast(facts.least, least))
        return stop(`the minimum ${least.value} may be new`)
      if (most !== undefined && !isAtMost(facts.most, most))
        return stop(`the maximum ${most.value} may be new`)
      if (typeof multipleOf === 'number' && !facts.isMultipleOf(multipleOf))
        return stop(`multipleOf ${multipleOf} may be new`)
    }
    if (types.has('string')) {
      const { minLength, maxLength, pattern } = schema
      if (
        typeof minLength === 'number' &&
        minLength > Math.max(excludes(left, '') ? 1 : 0, facts.text.least) &&
        !facts.areTexts({ least: minLength })
      )
        return stop('minLength may be higher')
      if (
        typeof maxLength === 'number' &&
        maxLength < facts.text.most &&
        !facts.areTexts({ most: maxLength })
      )
        return stop('maxLength may be lower')
      if (
        typeof pattern === 'string' &&
        !EVERYTHING.has(pattern) &&
        !facts.has('pattern', pattern) &&
        !facts.areTexts({ patterns: [pattern] })
      )
        return stop(`the pattern ${JSON.stringify(pattern)} is not the earlier one`)
    }
    const { format } = schema
    if (format !== undefined && !facts.hasFormat(format) && !isFormatOfOtherTypes(format, types))
      return stop(`the format ${JSON.stringify(format)} is not the earlier one`)
    return undefined
  }

  #objects(goal: PartGoal, context: ProofContext, stop: (why: string) => ProofObstacle): Step {
    const { part, ours, facts, left } = goal
    const { schema } = part
    for (const name of requiredNames(part))
      if (!facts.required.has(name)) return stop(`${JSON.stringify(name)} may be missing`)
    const { minProperties, maxProperties } = schema
    if (
      typeof minProperties === 'number' &&
      Math.max(excludes(left, {}) ? 1 : 0, facts.number('minProperties', 'max', 0), facts.required.size) <
        minProperties
    )
      return stop('minProperties may be higher')
    if (
      typeof maxProperties === 'number' &&
      Math.min(facts.number('maxProperties', 'min', Infinity), facts.mostMembers()) > maxProperties
    )
      return stop('maxProperties may be lower')
    return (
      this.#members(part, ours, context) ??
      this.#dependencies(goal, context, stop) ??
      this.#names(goal, context, stop) ??
      this.#unevaluated(goal, context, stop)
    )
  }

  /** `properties`, `patternProperties` and `additionalProperties` of a part. */
  #members(part: SchemaPart, ours: readonly SchemaPart[], context: ProofContext): Step {
    const { properties, patternProperties, additionalProperties } = part.schema
    for (const [name, schema] of entriesOf(properties)) {
      const found = this.#inside(
        evaluatedNodes(ours, name),
        childNode(part, schema, 'properties', name),
        context,
        memberPath(context, name),
      )
      if (found !== undefined) return found
    }
    for (const [pattern, schema] of entriesOf(patternProperties)) {
      const target = childNode(part, schema, 'patternProperties', pattern)
      const found = this.#namesLike(
        ours,
        target,
        context,
        (name) => matchesPattern(pattern, name) !== false,
        new Set([pattern]),
        true,
      )
      if (found !== undefined) return found
    }
    if (additionalProperties === undefined || additionalProperties === true) return undefined
    const patterns = new Set(Object.keys(isObject(patternProperties) ? patternProperties : {}))
    const isOther = (name: string): boolean =>
      !(isObject(properties) && Object.hasOwn(properties, name)) &&
      ![...patterns].some((pattern) => matchesPattern(pattern, name) === true)
    return this.#namesLike(
      ours,
      childNode(part, additionalProperties, 'additionalProperties'),
      context,
      isOther,
      patterns,
      false,
    )
  }

  /**
   * Proves a goal for the members with some names: those that the left side names and that `isMeant` selects, those of its patterns, and
   * all others. `patterns` are the patterns of the goal: if `areMeant`, the names that match them, else all but those.
   */
  #namesLike(
    ours: readonly SchemaPart[],
    target: SchemaNode,
    context: ProofContext,
    isMeant: (name: string) => boolean,
    patterns: ReadonlySet<string>,
    areMeant: boolean,
  ): Step {
    const named = new Set(ours.flatMap(namedMembers))
    for (const name of named) {
      if (!isMeant(name)) continue
      const found = this.#inside(evaluatedNodes(ours, name), target, context, memberPath(context, name))
      if (found !== undefined) return found
    }
    const only = this.#onlyNames(ours)
    if (only !== undefined)
      return firstOf(only, (name) =>
        named.has(name) || !isMeant(name)
          ? undefined
          : this.#inside(evaluatedNodes(ours, name), target, context, memberPath(context, name)),
      )
    const path = `${context.path}.*`
    const own = new Set(
      ours.flatMap(({ schema }) =>
        Object.keys(isObject(schema['patternProperties']) ? schema['patternProperties'] : {}),
      ),
    )
    for (const pattern of own) {
      if (!areMeant && patterns.has(pattern)) continue
      const found = this.#inside(nodesOfPattern(ours, pattern), target, context, path)
      if (found !== undefined) return found
    }
    if (areMeant && [...patterns].some((pattern) => own.has(pattern))) return undefined
    return this.#inside(nodesOfOthers(ours), target, context, path)
  }

  /** The only names that members can have, if `propertyNames` lists them. */
  #onlyNames(ours: readonly SchemaPart[]): readonly string[] | undefined {
    const nodes = ours.flatMap((one) =>
      one.schema['propertyNames'] === undefined
        ? []
        : [childNode(one, one.schema['propertyNames'], 'propertyNames')],
    )
    if (nodes.length === 0) return undefined
    const { parts, stopped } = partsOf(nodes)
    if (stopped !== undefined || parts.some((part) => unknownKeyword(part) !== undefined)) return undefined
    return this.#finiteValues(nodes, parts, new Set(['string']))?.filter((name) => typeof name === 'string')
  }

  #dependencies(
    { part, ours, facts, left }: PartGoal,
    context: ProofContext,
    stop: (why: string) => ProofObstacle,
  ): Step {
    const { dependentRequired, dependentSchemas, dependencies } = part.schema
    for (const [name, needed] of [...entriesOf(dependentRequired), ...entriesOf(dependencies)]) {
      if (!Array.isArray(needed)) continue
      const missing = texts(needed).find((one) => !facts.required.has(one) && !facts.needs(name, one))
      if (missing !== undefined && !this.#isForbidden(ours, name, context))
        return stop(`${JSON.stringify(missing)} may be missing beside ${JSON.stringify(name)}`)
    }
    for (const keyword of ['dependentSchemas', 'dependencies'] as const)
      for (const [name, schema] of entriesOf(keyword === 'dependencies' ? dependencies : dependentSchemas)) {
        if (Array.isArray(schema) || this.#isForbidden(ours, name, context)) continue
        const found = this.subset(
          [...left, literal({ required: [name] })],
          childNode(part, schema, keyword, name),
          context,
        )
        if (found !== undefined) return found
      }
    return undefined
  }

  #isForbidden(ours: readonly SchemaPart[], name: string, context: ProofContext): boolean {
    return this.#isEmpty(memberNodes(ours, name), context)
  }

  #names({ part, ours, facts }: PartGoal, context: ProofContext, stop: (why: string) => ProofObstacle): Step {
    const { propertyNames } = part.schema
    if (propertyNames === undefined || propertyNames === true) return undefined
    const target = childNode(part, propertyNames, 'propertyNames')
    const known = ours.flatMap((one) =>
      one.schema['propertyNames'] === undefined
        ? []
        : [childNode(one, one.schema['propertyNames'], 'propertyNames')],
    )
    const inner = { ...context, level: context.level + 1, path: memberPath(context, '*') }
    if (this.subset([...known, literal({ type: 'string' })], target, inner) === undefined) return undefined
    const names = facts.closedNames()
    if (names === undefined || unknownInside(target) !== undefined)
      return stop('the names of members may no longer be valid')
    const bad = names.find(
      (name) => acceptsNode(target, name) !== true && !this.#isForbidden(ours, name, context),
    )
    return bad === undefined ? undefined : stop(`the name ${JSON.stringify(bad)} may no longer be valid`)
  }

  /** `unevaluatedProperties` is proven as if it were `additionalProperties` beside everything that is always evaluated. */
  #unevaluated(
    { part, ours, left }: PartGoal,
    context: ProofContext,
    stop: (why: string) => ProofObstacle,
  ): Step {
    const { unevaluatedProperties } = part.schema
    if (unevaluatedProperties === undefined || unevaluatedProperties === true) return undefined
    const own = partsOf([part])
    if (own.stopped !== undefined) return stop(own.stopped)
    const branches = own.parts
      .flatMap((one) => [...branchesOf(one, 'anyOf'), ...branchesOf(one, 'oneOf')])
      .filter((branch) => this.subset(left, branch, context) === undefined)
    const always = [...own.parts, ...branches.flatMap((branch) => partsOf([branch]).parts)]
    if (always.some(({ schema }) => schema['additionalProperties'] !== undefined)) return undefined
    const names = new Set(always.flatMap(namedMembers))
    const patterns = new Set(
      always.flatMap(({ schema }) =>
        Object.keys(isObject(schema['patternProperties']) ? schema['patternProperties'] : {}),
      ),
    )
    const isOther = (name: string): boolean =>
      !names.has(name) && ![...patterns].some((pattern) => matchesPattern(pattern, name) === true)
    const target = childNode(part, unevaluatedProperties, 'unevaluatedProperties')
    return this.#namesLike(ours, target, context, isOther, patterns, false)
  }

  #arrays(goal: PartGoal, context: ProofContext, stop: (why: string) => ProofObstacle): Step {
    const { part, ours, facts, left } = goal
    const { schema } = part
    const { minItems, maxItems, uniqueItems, unevaluatedItems } = schema
    const most = facts.number('maxItems', 'min', Infinity)
    if (
      typeof minItems === 'number' &&
      minItems > Math.max(excludes(left, []) ? 1 : 0, facts.number('minItems', 'max', 0))
    )
      return stop('minItems may be higher')
    if (typeof maxItems === 'number' && maxItems < most && facts.mostItems() > maxItems)
      return stop('maxItems may be lower')
    if (
      uniqueItems === true &&
      !facts.has('uniqueItems', true) &&
      most > 1 &&
      !this.#areDistinct(ours, facts, context)
    )
      return stop('uniqueItems may be new')
    if (unevaluatedItems !== undefined && unevaluatedItems !== true)
      return stop('unevaluatedItems is not compared')
    const { first, rest } = itemSchemas(part)
    const longest = Math.max(first.length, ...ours.map((one) => itemSchemas(one).first.length))
    if (longest > MOST_VALUES) return stop('the list has too many items')
    for (let index = 0; index < longest + 1; index++) {
      const target = first[index] ?? rest
      if (target === undefined || index >= most) continue
      const path = `${context.path}[${index < longest ? index : '*'}]`
      const found = this.#inside(itemNodes(ours, index), target, context, path)
      if (found !== undefined) return found
    }
    return this.#contains(goal, context, stop)
  }

  /** A short list whose items cannot be equal, because each has values of its own. */
  #areDistinct(ours: readonly SchemaPart[], facts: ValueFacts, context: ProofContext): boolean {
    const length = facts.mostItems()
    if (length > MOST_PLACES) return false
    const places = Array.from({ length }, (_, index) => itemNodes(ours, index))
    return places.every((one, at) =>
      places.slice(0, at).every((other) => this.#isEmpty([...one, ...other], context)),
    )
  }

  #contains(
    { part, ours, facts }: PartGoal,
    context: ProofContext,
    stop: (why: string) => ProofObstacle,
  ): Step {
    const { contains, minContains = 1, maxContains } = part.schema
    if (contains === undefined) return undefined
    const hasSame = ours.some(({ schema, document }) => {
      const least = typeof schema['minContains'] === 'number' ? schema['minContains'] : 1
      const most = typeof schema['maxContains'] === 'number' ? schema['maxContains'] : Infinity
      const words = sameWords(schema['contains'])
      return (
        words !== undefined &&
        words === sameWords(contains) &&
        document.draft === part.document.draft &&
        Number(minContains) <= least &&
        (typeof maxContains !== 'number' || most <= maxContains)
      )
    })
    if (hasSame) return undefined
    const target = childNode(part, contains, 'contains')
    const hasNarrower = ours.some((one) => {
      const { contains: own, minContains: least = 1 } = one.schema
      if (own === undefined || typeof maxContains === 'number' || Number(least) < Number(minContains))
        return false
      return (
        this.#inside([childNode(one, own, 'contains')], target, context, `${context.path}[*]`) === undefined
      )
    })
    if (hasNarrower) return undefined
    if (typeof maxContains === 'number' && facts.mostItems() > maxContains)
      return stop('maxContains may be lower')
    if (Number(minContains) === 0) return undefined
    const least = facts.number('minItems', 'max', 0)
    if (least < Number(minContains)) return stop('contains may be new')
    let fitting = 0
    for (let index = 0; index < Math.min(least, MOST_PLACES) && fitting < Number(minContains); index++)
      if (this.#inside(itemNodes(ours, index), target, context, `${context.path}[${index}]`) === undefined)
        fitting++
    if (fitting >= Number(minContains)) return undefined
    const longest = Math.max(0, ...ours.map((one) => itemSchemas(one).first.length))
    for (let index = 0; index < longest + 1; index++) {
      const found = this.#inside(itemNodes(ours, index), target, context, `${context.path}[*]`)
      if (found !== undefined) return stop('contains may be new')
    }
    return undefined
  }

  #combinations({ part, left }: PartGoal, context: ProofContext, stop: (why: string) => ProofObstacle): Step {
    const { anyOf, oneOf, not, if: condition } = part.schema
    if (Array.isArray(anyOf) && !this.#someBranch(left, branchesOf(part, 'anyOf'), context))
      return stop('no alternative of anyOf contains all earlier values')
    if (Array.isArray(oneOf)) {
      const branches = branchesOf(part, 'oneOf')
      const chosen = branches.findIndex((branch) => this.subset(left, branch, context) === undefined)
      const others = branches.filter((_, at) => at !== chosen)
      if (chosen < 0 || !others.every((other) => this.#isEmpty([...left, other], context)))
        return stop('no alternative of oneOf contains all earlier values, and no other one any of them')
    }
    if (not !== undefined && !this.#isEmpty([...left, childNode(part, not, 'not')], context))
      return this.#hasSameNot(left, part, context)
        ? undefined
        : stop('what `not` excludes may have been valid')
    if (condition !== undefined && part.document.draft !== 'draft-04' && part.document.draft !== 'draft-06')
      return this.#conditional(left, part, context)
    return undefined
  }

  #someBranch(left: readonly SchemaNode[], branches: readonly SchemaNode[], context: ProofContext): boolean {
    return branches.some((branch) => this.subset(left, branch, context) === undefined)
  }

  /** What the new schema excludes was already excluded. */
  #hasSameNot(left: readonly SchemaNode[], part: SchemaPart, context: ProofContext): boolean {
    const target = childNode(part, part.schema['not'], 'not')
    return partsOf(left).parts.some((one) => {
      const { not } = one.schema
      return (
        not !== undefined &&
        this.subset([target], childNode(one, not, 'not'), { ...context, goals: new Map() }) === undefined
      )
    })
  }

  #conditional(left: readonly SchemaNode[], part: SchemaPart, context: ProofContext): Step {
    const { if: condition, then, else: otherwise } = part.schema
    const test = childNode(part, condition, 'if')
    if (then !== undefined && !this.#isEmpty([...left, test], context)) {
      const found = this.subset([...left, test], childNode(part, then, 'then'), context)
      if (found !== undefined) return found
    }
    if (otherwise === undefined || this.subset(left, test, context) === undefined) return undefined
    return this.subset(left, childNode(part, otherwise, 'else'), context)
  }

  /** Divides the values on the left into cases, and proves each. */
  #bySplitting(
    left: readonly SchemaNode[],
    ours: readonly SchemaPart[],
    right: SchemaNode,
    types: ReadonlySet<SchemaValueType>,
    context: ProofContext,
    splits: number,
  ): boolean {
    const holds = (more: SchemaNode): boolean =>
      this.subset([...left, more], right, context, splits + 1) === undefined
    const isIn = (node: SchemaNode): boolean =>
      left.some(({ document, pointer }) => document === node.document && pointer === node.pointer)
    for (const part of ours)
      for (const keyword of ['anyOf', 'oneOf'] as const) {
        const branches = branchesOf(part, keyword)
        if (branches.length === 0 || branches.length > MOST_BRANCHES || branches.some(isIn)) continue
        return branches.every(holds)
      }
    for (const part of ours) {
      const { if: condition, then, else: otherwise } = part.schema
      if (condition === undefined || (then === undefined && otherwise === undefined)) continue
      const test = childNode(part, condition, 'if')
      const thenNode = childNode(part, then ?? true, 'then')
      const elseNode = childNode(part, otherwise ?? true, 'else')
      if (isIn(test) || isIn(elseNode) || isIn(thenNode)) continue
      // If the condition holds for all values, or for none, one of the two applies to all.
      if (then !== undefined && this.subset(left, test, context, MOST_SPLITS) === undefined)
        return holds(thenNode)
      if (otherwise !== undefined && this.#isEmpty([...left, test], context)) return holds(elseNode)
      const holdsIf =
        this.subset(
          [...left, test, ...(then === undefined ? [] : [thenNode])],
          right,
          context,
          splits + 1,
        ) === undefined
      if (holdsIf && otherwise !== undefined && holds(elseNode)) return true
    }
    const cases = this.#casesOf(left, ours, right)
    if (cases.length > 1 && splits < MOST_CASE_SPLITS) return cases.every((one) => holds(literal(one)))
    const names = new Set(Array.from(types, (type) => (type === 'fraction' ? 'number' : type)))
    if (names.has('number')) names.delete('integer')
    if (names.size < 2 || splits > 1) return false
    return [...names].every((type) => holds(literal({ type })))
  }

  /** Divides the values where the alternatives of the right side do: at their limits, or by the values of a member that has few. */
  #casesOf(
    left: readonly SchemaNode[],
    ours: readonly SchemaPart[],
    right: SchemaNode,
  ): readonly JsonObject[] {
    const branches = partsOf([right]).parts.flatMap((part) => [
      ...branchesOf(part, 'anyOf'),
      ...branchesOf(part, 'oneOf'),
    ])
    if (branches.length === 0 || branches.length > MOST_BRANCHES) return []
    const told = branches.flatMap((branch) => partsOf([branch]).parts)
    const isNew = (one: JsonObject): boolean =>
      !left.some(({ document }) => document === literal(one).document)
    for (const part of told)
      for (const [least, most] of COUNTS) {
        const limit = part.schema[least]
        if (typeof limit !== 'number' || !Number.isSafeInteger(limit) || limit < 1) continue
        const [below, above] = [{ [most]: limit - 1 }, { [least]: limit }]
        if (isNew(below) && isNew(above)) return [below, above]
      }
    for (const part of told)
      for (const keyword of ['minimum', 'exclusiveMinimum'] as const) {
        const limit = part.schema[keyword]
        if (typeof limit !== 'number') continue
        const [below, above] =
          keyword === 'minimum'
            ? [{ exclusiveMaximum: limit }, { minimum: limit }]
            : [{ maximum: limit }, { exclusiveMinimum: limit }]
        if (isNew(below) && isNew(above)) return [below, above]
      }
    const required = requiredBy(ours)
    for (const name of new Set(told.flatMap(namedMembers))) {
      if (!required.has(name)) continue
      const nodes = memberNodes(ours, name)
      const { parts, stopped } = partsOf(nodes)
      if (stopped !== undefined || parts.length === 0) continue
      const values = this.#finiteValues(nodes, parts, typesOf(parts))
      if (values === undefined || values.length < 2 || values.length > MOST_BRANCHES) continue
      const cases = values.map((value) => ({ properties: { [name]: { const: value } } }))
      if (cases.every(isNew)) return cases
    }
    return []
  }

  /** Proves a goal about something inside of the current value. */
  #inside(left: readonly SchemaNode[], right: SchemaNode, context: ProofContext, path: string): Step {
    if (right.schema === true || (isObject(right.schema) && Object.keys(right.schema).length === 0))
      return undefined
    return this.subset(left, right, { path, level: context.level + 1, goals: context.goals })
  }

  /** Returns true if it is certain that no value is valid by all of the schemas. */
  #isEmpty(nodes: readonly SchemaNode[], context: ProofContext, depth = 0): boolean {
    if (++this.#steps > MOST_STEPS) throw new ProofTooLong()
    const { parts, isNever, stopped } = partsOf(nodes)
    if (isNever) return true
    if (stopped !== undefined || depth > MOST_SPLITS) return false
    const types = typesOf(parts)
    const values = this.#finiteValues(nodes, parts, types)
    if (values !== undefined) return values.length === 0
    if ([...types].every((type) => this.#hasNone(type, parts, context, depth))) return true
    for (const part of parts)
      for (const keyword of ['anyOf', 'oneOf'] as const) {
        const branches = branchesOf(part, keyword)
        if (branches.length === 0 || branches.length > MOST_BRANCHES) continue
        if (branches.every((branch) => this.#isEmpty([...nodes, branch], context, depth + 1))) return true
      }
    return parts.some((part) => {
      const { not } = part.schema
      return not !== undefined && depth < 2 && this.#excludes(nodes, childNode(part, not, 'not'), context)
    })
  }

  /** Everything that is left is excluded by a `not`. */
  #excludes(nodes: readonly SchemaNode[], excluded: SchemaNode, context: ProofContext): boolean {
    return this.subset(nodes, excluded, context, MOST_SPLITS) === undefined
  }

  #hasNone(
    type: SchemaValueType,
    parts: readonly SchemaPart[],
    context: ProofContext,
    depth: number,
  ): boolean {
    const facts = new ValueFacts(parts, new Set([type]))
    switch (type) {
      case 'integer':
      case 'fraction': {
        const { least, most } = facts
        if (least === undefined || most === undefined) return false
        return (
          least.value > most.value || (least.value === most.value && (least.isExclusive || most.isExclusive))
        )
      }
      case 'string':
        return facts.text.least > facts.text.most || isWithoutTexts(facts.counted) === true
      case 'array':
        return facts.number('minItems', 'max', 0) > facts.mostItems()
      case 'object':
        return (
          facts.number('minProperties', 'max', 0) > facts.number('maxProperties', 'min', Infinity) ||
          [...facts.required].some((name) => this.#isEmpty(memberNodes(parts, name), context, depth + 1))
        )
      case 'null':
      case 'boolean':
        return false
    }
  }
}

/** Lists of values that are too long to be tried one by one are compared as lists. */
function isLongEnumWithin({ ours, part }: PartGoal): boolean {
  const allowed = part.schema['enum']
  if (!Array.isArray(allowed)) return false
  const known = new Set(allowed.map(canonicalJson))
  return ours.some(
    ({ schema }) =>
      Array.isArray(schema['enum']) && schema['enum'].every((value) => known.has(canonicalJson(value))),
  )
}

/** Keywords that count, by pairs. */
const COUNTS = [
  ['minLength', 'maxLength'],
  ['minItems', 'maxItems'],
  ['minProperties', 'maxProperties'],
] as const

const MOST_PLACES = 16

const MOST_BRANCHES = 64
/** Patterns that every text matches. */
const EVERYTHING: ReadonlySet<string> = new Set(['', '.*', '^', '^.*', '[\\s\\S]*', '^[\\s\\S]*$'])

/** A keyword of the right side, and what is known about the left side. */
interface PartGoal {
  readonly left: readonly SchemaNode[]
  readonly ours: readonly SchemaPart[]
  readonly part: SchemaPart
  readonly types: ReadonlySet<SchemaValueType>
  readonly facts: ValueFacts
}

/** The schemas of members whose name matches a pattern of the left side. */
function nodesOfPattern(parts: readonly SchemaPart[], pattern: string): readonly SchemaNode[] {
  return parts.flatMap((part) => {
    const { patternProperties, additionalProperties } = part.schema
    if (isObject(patternProperties) && Object.hasOwn(patternProperties, pattern))
      return [childNode(part, patternProperties[pattern], 'patternProperties', pattern)]
    const hasPatterns = isObject(patternProperties) && Object.keys(patternProperties).length > 0
    return hasPatterns || additionalProperties === undefined
      ? []
      : [childNode(part, additionalProperties, 'additionalProperties')]
  })
}

/** The schemas of a member, among them `false` if nothing evaluates it where everything has to be evaluated. */
function evaluatedNodes(parts: readonly SchemaPart[], name: string): readonly SchemaNode[] {
  const closed = parts.filter((part) => {
    if (part.schema['unevaluatedProperties'] !== false || !isSimple(part)) return false
    return memberNodes(partsOf([part]).parts, name).length === 0 && !hasUncertainPattern(part, name)
  })
  return [
    ...memberNodes(parts, name),
    ...closed.map((part) => childNode(part, false, 'unevaluatedProperties')),
  ]
}

function hasUncertainPattern(part: SchemaPart, name: string): boolean {
  return partsOf([part]).parts.some(({ schema }) =>
    entriesOf(schema['patternProperties']).some(([pattern]) => matchesPattern(pattern, name) === undefined),
  )
}

function firstOf(names: readonly string[], step: (name: string) => Step): Step {
  for (const name of names) {
    const found = step(name)
    if (found !== undefined) return found
  }
  return undefined
}

/** The schemas of members that the left side neither names nor matches by a pattern. */
function nodesOfOthers(parts: readonly SchemaPart[]): readonly SchemaNode[] {
  return parts.flatMap((part) => {
    const { additionalProperties, unevaluatedProperties } = part.schema
    return [
      ...(additionalProperties === undefined
        ? []
        : [childNode(part, additionalProperties, 'additionalProperties')]),
      ...(unevaluatedProperties === false && isSimple(part)
        ? [childNode(part, false, 'unevaluatedProperties')]
        : []),
    ]
  })
}

/** The schema object has no alternatives, so that all members that it evaluates are named in its parts. */
function isSimple(part: SchemaPart): boolean {
  const { parts, stopped } = partsOf([part])
  return (
    stopped === undefined &&
    parts.every(({ schema }) =>
      ['anyOf', 'oneOf', 'if', 'dependentSchemas', 'not', 'dependencies'].every(
        (keyword) => schema[keyword] === undefined,
      ),
    ) &&
    parts.every(({ schema }) => schema['additionalProperties'] === undefined)
  )
}

function branchesOf(part: SchemaPart, keyword: 'anyOf' | 'oneOf'): readonly SchemaNode[] {
  const list = part.schema[keyword]
  if (!Array.isArray(list)) return []
  return list.map((schema: unknown, at) => ({
    document: part.document,
    pointer: pointerTo(part.pointer, keyword, at),
    schema,
  }))
}

function hasSameWords(part: SchemaPart, others: readonly SchemaPart[]): boolean {
  const words = sameWords(part.schema)
  return (
    words !== undefined &&
    others.some((other) => other.document.draft === part.document.draft && sameWords(other.schema) === words)
  )
}

/** Returns `undefined` also if the schema has a keyword or format inside that is not known: validators skip those. */
function acceptsNode(node: SchemaNode, value: unknown): boolean | undefined {
  const { document, pointer } = node
  const known = knownParts.get(document) ?? new Map<string, boolean>()
  const isKnown = known.get(pointer) ?? unknownInside(node) === undefined
  knownParts.set(document, known.set(pointer, isKnown))
  return isKnown ? document.acceptsAt(pointer, value) : undefined
}

const knownParts = new WeakMap<SchemaDocument, Map<string, boolean>>()

/** The earlier schemas reject the value, such as the only text that is shorter than one character. */
function excludes(nodes: readonly SchemaNode[], value: unknown): boolean {
  return nodes.some((node) => acceptsNode(node, value) === false)
}

function memberPath({ path }: ProofContext, name: string): string {
  return path === '' ? name : `${path}.${name}`
}

/** Most formats are about texts, so they say nothing about other types. Those of numbers are compared. */
function isFormatOfOtherTypes(format: unknown, types: ReadonlySet<SchemaValueType>): boolean {
  if (['int32', 'int64', 'float', 'double'].includes(String(format)))
    return !types.has('integer') && !types.has('fraction')
  return !types.has('string')
}

const literals = new Map<string, SchemaDocument>()

/** A schema of our own. */
function literal(schema: JsonObject): SchemaNode {
  const key = canonicalJson(schema)
  const document = literals.get(key) ?? new SchemaDocument(schema)
  if (literals.size < 1_000) literals.set(key, document)
  return document.node
}
