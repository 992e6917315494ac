import fc from 'fast-check'
import { expect, test } from 'vitest'
import { renameInputResponses, pairInputRequests, type RoundInputTexts } from './input-names.ts'

const ELICIT = 'elicitation/create'
const SURE = { method: ELICIT, params: { message: 'Sure?' } }
const WHY = { method: ELICIT, params: { message: 'Why?' } }
const ROOTS = { method: 'roots/list' }

test.each<[string, object, object, object]>([
  ['the same names for the same', { a: SURE, b: ROOTS }, { a: SURE, b: ROOTS }, { a: 'a', b: 'b' }],
  ['other names, in another order', { a: SURE, b: ROOTS }, { x: ROOTS, y: SURE }, { a: 'y', b: 'x' }],
  ['names that have changed hands', { a: SURE, b: WHY }, { a: WHY, b: SURE }, { a: 'b', b: 'a' }],
  ['members in another order', { a: SURE }, { x: { params: SURE.params, method: ELICIT } }, { a: 'x' }],
  ['the same twice, in order', { a: SURE, b: SURE }, { x: SURE, y: SURE }, { a: 'x', b: 'y' }],
  [
    'by name, when the words are others',
    { a: SURE, b: WHY },
    { b: asking('Warum?'), a: asking('Sicher?') },
    { a: 'a', b: 'b' },
  ],
  [
    'by what comes nearest, when the names are others, too',
    { a: wanting('a name', 'name'), b: wanting('a day', 'day') },
    { x: wanting('another day', 'day'), y: wanting('another name', 'name') },
    { a: 'y', b: 'x' },
  ],
  ['one that is no longer asked', { a: SURE, b: ROOTS }, { x: ROOTS }, { b: 'x' }],
  ['one more than there was', { a: SURE }, { x: ROOTS, y: SURE }, { a: 'y' }],
  ['never one of another kind', { a: SURE }, { a: ROOTS }, {}],
])('inputs of a round are paired: %s', (_, recorded, live, pairs) => {
  expect(Object.fromEntries(pairInputRequests(inputs(recorded), inputs(live)))).toEqual(pairs)
})

test('different inputs are paired by content, whatever their names and order', () => {
  const names = fc.uniqueArray(fc.string({ minLength: 1 }), { minLength: 1, maxLength: 6 })
  fc.assert(
    fc.property(names, names, fc.nat(), (then, now, by) => {
      const count = Math.min(then.length, now.length)
      const wishes = Array.from({ length: count }, (_, place) => asking(`question ${place}`))
      const turned = now.slice(0, count).map((name, place) => [name, wishes[(place + by) % count]] as const)
      const pairs = pairInputRequests(
        inputs(Object.fromEntries(wishes.map((wish, place) => [`${place} ${then[place]}`, wish]))),
        new Map(turned.map(([name, wish]) => [name, JSON.stringify(wish)])),
      )
      for (const [place, wish] of wishes.entries())
        expect(pairs.get(`${place} ${then[place]}`)).toBe(turned.find(([, one]) => one === wish)?.[0])
    }),
  )
})

test('names can be swapped, and inputs that are no longer requested are removed', () => {
  const text = '{"params": {"inputResponses":{"a": 1, "b":2,"c":3}},"id":1}'
  const names = new Map([
    ['a', 'b'],
    ['b', 'a'],
    ['c', undefined],
  ])
  expect(renameInputResponses(text, names)).toBe('{"params": {"inputResponses":{"b":1,"a":2}},"id":1}')
})

function asking(message: string): object {
  return { method: ELICIT, params: { message } }
}

function wanting(message: string, field: string): object {
  return {
    method: ELICIT,
    params: { message, requestedSchema: { properties: { [field]: { type: 'string' } } } },
  }
}

function inputs(wishes: object): RoundInputTexts {
  return new Map(Object.entries(wishes).map(([name, wish]) => [name, JSON.stringify(wish)]))
}
