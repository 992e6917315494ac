import fc from 'fast-check'
import { expect, test } from 'vitest'
import { answerOf, client, server, tapeOf, type Said } from '../../test/support/tape-of.ts'
import { cases } from '../../test/support/cases.ts'
import { canonicalJson } from '../json/canonical.ts'
import { isObject, member } from '../json/parse.ts'
import { Matcher, type MatcherOptions, type MatchOutcome } from './matcher.ts'

type Params = Readonly<Record<string, unknown>>

const value = fc.constantFrom(1, 2, 'x')
const args = fc.record({ a: value, b: value, c: fc.record({ d: value }) }, { requiredKeys: [] })
const params = fc.record(
  { name: fc.constantFrom('s', 't'), arguments: args, requestState: fc.constantFrom('1', '2') },
  { requiredKeys: ['name', 'arguments'] },
)
const many = fc.array(params, { maxLength: 10 })

// The definition of each strategy in its simplest form.
const DEFINITIONS: Readonly<Record<string, (recorded: unknown, live: unknown) => boolean>> = {
  exact: isSame,
  'method-and-params': isSame,
  sequential: isSame,
  method: () => true,
  subset: (recorded, live) =>
    member(recorded, 'name') === member(live, 'name') &&
    isWithin(member(live, 'arguments'), member(recorded, 'arguments')),
}

test.each(Object.keys(DEFINITIONS))(
  'match %s: each request gets an answer that the strategy allows, no answer is used twice, and a miss means that none is left',
  (match) => {
    fc.assert(
      fc.property(many, many, (recorded, live) => {
        const { turns } = tapeOf(...recorded.flatMap(exchange))
        const matcher = new Matcher(turns, { match })
        const used = new Set<number>()
        const faults = live.flatMap((sent) =>
          faultsIn(match, { sent, outcome: lookup(matcher, sent), recorded, used }),
        )
        expect(faults).toEqual([])
        expect(matcher.unconsumedKeys().map(({ frame }) => frame)).toEqual(
          recorded.flatMap((_, place) => (used.has(place) ? [] : [frameOf(place)])),
        )
      }),
      cases(100),
    )
  },
)

// Requests that differ only in ignored values are answered in recorded order.
const IGNORING: readonly MatcherOptions[] = [
  { ignore: ['params.arguments.b'] },
  { rules: ['tools/call params.arguments.b ignore'] },
  { rules: ['tools/call s params.arguments.b ignore', 'tools/call t params.arguments.b ignore'] },
  { match: 'exact', ignore: ['params.arguments.b'] },
]

test.each(IGNORING)(
  '%j: requests that differ only in ignored values share their answers, in recorded order',
  (options) => {
    fc.assert(
      fc.property(many, many, (recorded, live) => {
        const { turns } = tapeOf(...recorded.flatMap(exchange))
        const matcher = new Matcher(turns, options)
        const left = new Set(recorded.keys())
        for (const sent of live) {
          const first = [...left].find((place) => isSame(withoutB(recorded[place]), withoutB(sent)))
          expect(placeIn(lookup(matcher, sent))).toBe(first)
          if (first !== undefined) left.delete(first)
        }
        expect(matcher.unconsumedKeys().map(({ frame }) => frame)).toEqual([...left].map(frameOf))
      }),
      cases(100),
    )
  },
)

test.each(Object.keys(DEFINITIONS))('match %s: the same requests always have the same outcomes', (match) => {
  fc.assert(
    fc.property(many, many, (recorded, live) => {
      const { turns } = tapeOf(...recorded.flatMap(exchange))
      const [first, second] = [
        new Matcher(turns, { match }),
        new Matcher(turns, { match }).forNewConnection(),
      ]
      const outcomes = live.map((sent) => placeIn(lookup(first, sent)))
      expect(live.map((sent) => placeIn(lookup(second, sent)))).toEqual(outcomes)
    }),
    cases(50),
  )
})

interface Case {
  readonly sent: Params
  readonly outcome: MatchOutcome
  readonly recorded: readonly Params[]
  readonly used: Set<number>
}

/** Returns how an outcome violates the definition of a strategy. Marks the answer of a hit as used. */
function faultsIn(match: string, { sent, outcome, recorded, used }: Case): readonly string[] {
  const allows = (candidate: unknown): boolean =>
    isSame(stateOf(candidate), stateOf(sent)) && DEFINITIONS[match]?.(candidate, sent) === true
  const left = recorded.flatMap((_, place) => (used.has(place) ? [] : [place]))
  const own = left.filter((place) => isSame(recorded[place], sent))
  const place = placeIn(outcome)
  const faults =
    place === undefined
      ? {
          'a miss though an answer is left':
            outcome.kind !==
            missOf(
              match,
              sent,
              recorded,
              left.some((one) => allows(recorded[one])),
            ),
        }
      : {
          'an answer that is not allowed': !allows(recorded[place]),
          'an answer twice': used.has(place),
          'out of order': match === 'sequential' && place !== left[0],
          'the answer of another': own.length > 0 && !own.includes(place),
        }
  if (place !== undefined) used.add(place)
  return Object.entries(faults).flatMap(([fault, isThere]) => (isThere ? [fault] : []))
}

/** The expected outcome of a miss. A request that was recorded exactly is used up, and no other request answers it. */
function missOf(match: string, sent: Params, recorded: readonly Params[], isAllowed: boolean): string {
  if (match === 'sequential' && isAllowed) return 'out-of-order'
  if (recorded.some((one) => isSame(one, sent))) return 'exhausted'
  if (isAllowed) return 'hit'
  return recorded.some((one) => isSame(stateOf(one), stateOf(sent)) && DEFINITIONS[match]?.(one, sent))
    ? 'exhausted'
    : 'unknown'
}

function withoutB(sent: Params | undefined): Params {
  const { b: _, ...rest } = isObject(sent?.['arguments']) ? sent['arguments'] : {}
  return { ...sent, arguments: rest }
}

function lookup(matcher: Matcher, sent: Params): MatchOutcome {
  return matcher.lookup({ server: 'demo', method: 'tools/call', params: sent })
}

function exchange(sent: Params, place: number): readonly Said[] {
  return [client({ id: place, method: 'tools/call', params: sent }), server(answerOf(place, `${place}`))]
}

function frameOf(place: number): number {
  return 2 * place + 1
}

function placeIn(outcome: MatchOutcome): number | undefined {
  return outcome.kind === 'hit' ? ((outcome.turn.trigger?.n ?? 0) - 1) / 2 : undefined
}

function stateOf(sent: unknown): unknown {
  return member(sent, 'requestState') ?? null
}

function isSame(a: unknown, b: unknown): boolean {
  return canonicalJson(a) === canonicalJson(b)
}

function isWithin(part: unknown, whole: unknown): boolean {
  if (!isObject(part) || !isObject(whole)) return isSame(part, whole)
  return Object.entries(part).every(([name, inside]) => name in whole && isWithin(inside, whole[name]))
}
