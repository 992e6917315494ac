import { expect, test } from 'vitest'
import { shrinkValue } from './shrink-value.ts'

interface Arguments {
  readonly tags?: readonly string[]
  readonly text?: string
  readonly count?: number
  readonly rows?: readonly number[]
}

async function smallest(
  value: unknown,
  fails: (value: Arguments) => boolean | undefined,
  fixed = '',
): Promise<unknown> {
  return shrinkValue(value, {
    isFixed: (path) => path.join('.') === fixed,
    test: async (candidate) => fails(candidate as Arguments) === true,
  })
}

test('members and items that do not matter are removed', async () => {
  const value = { id: 'a', tags: ['x', 'bad', 'y'], note: 'long', options: { deep: true, other: 1 } }
  expect(await smallest(value, ({ tags }) => tags?.includes('bad'))).toEqual({ tags: ['bad'] })
})

test('the limit of a text, a list and a number is found exactly', async () => {
  expect(await smallest({ text: 'é'.repeat(900) }, ({ text = '' }) => text.length >= 64)).toEqual({
    text: 'é'.repeat(64),
  })
  expect(await smallest({ count: 5000 }, ({ count = 0 }) => count > 41)).toEqual({ count: 42 })
  expect(await smallest({ count: -9.5 }, ({ count = 0 }) => count < -3)).toEqual({ count: -4 })
  expect(await smallest({ rows: Array(500).fill(0) }, ({ rows = [] }) => rows.length >= 17)).toEqual({
    rows: Array(17).fill(0),
  })
})

test('a value that another call made stays as it is', async () => {
  expect(await smallest({ id: 'a-long-handle', n: 7 }, () => true, 'id')).toEqual({ id: 'a-long-handle' })
})
