import { expect, test } from 'vitest'
import { hasTest } from '../support/titles.ts'
import { requirements } from './requirements.ts'

test('every rule of the protocol that we rely on has a test', () => {
  expect(requirements.filter(({ file, test: title }) => !hasTest(file, title))).toEqual([])
})
