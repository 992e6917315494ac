import fc from 'fast-check'
import { expect, test } from 'vitest'
import { type ItemNeeds, reduceSet, withDependents, withRequirements } from './reduce-set.ts'

const CHAIN: readonly ItemNeeds[] = [
  { item: 2, anyOf: [0] },
  { item: 3, anyOf: [2] },
  { item: 5, anyOf: [1, 4] },
]

test('an item goes with those that need it, unless they get the value elsewhere', () => {
  expect([...withDependents([0], CHAIN)]).toEqual([0, 2, 3])
  expect([...withDependents([1], CHAIN)]).toEqual([1])
  expect([...withDependents([1, 4], CHAIN)]).toEqual([1, 4, 5])
})

test('an item comes with everything that it needs', () => {
  expect([...withRequirements(3, CHAIN)]).toEqual([3, 2, 0])
})

test('exactly the needed items are left, whatever they are', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.integer({ min: 1, max: 200 }),
      fc.array(fc.nat(199), { maxLength: 8 }),
      async (size, chosen) => {
        const needed = new Set([size - 1, ...chosen.filter((item) => item < size)])
        const left = await reduceSet(new Set(Array.from({ length: size }, (_, item) => item)), {
          needs: [],
          keep: size - 1,
          test: async (items) => [...needed].every((item) => items.has(item)),
        })
        expect(new Set(left)).toEqual(needed)
      },
    ),
  )
})

test('no try breaks the data flow, and a chain of 180 items takes few tries', async () => {
  const needs = Array.from({ length: 90 }, (_, at) => ({ item: 90 + at, anyOf: [at] }))
  let tries = 0
  let broken = false
  const left = await reduceSet(new Set(Array.from({ length: 180 }, (_, item) => item)), {
    needs,
    keep: 179,
    test: async (items) => {
      tries++
      broken ||= needs.some(({ item, anyOf }) => items.has(item) && !anyOf.some((each) => items.has(each)))
      return [5, 95, 89, 179].every((item) => items.has(item))
    },
  })
  expect([...left].toSorted((one, other) => one - other)).toEqual([5, 89, 95, 179])
  expect(broken).toBe(false)
  expect(tries).toBeLessThan(60)
})
