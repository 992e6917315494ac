import { expect, test } from 'vitest'
import { parseServerFilter } from './server-filter.ts'

const NAMES = ['github', 'git', 'files', 'a.b', 'axb']

test.each([
  [undefined, NAMES],
  ['git', ['git']],
  ['git*', ['github', 'git']],
  ['git, files', ['git', 'files']],
  ['a.b', ['a.b']],
  ['*', NAMES],
  ['', []],
])('the filter %s matches names, with * for anything', (text, meant) => {
  expect(NAMES.filter(parseServerFilter(text))).toEqual(meant)
})
