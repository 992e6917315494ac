import { expect, test } from 'vitest'
import { serverFilter } from './server-filter.ts'

const NAMES = ['github', 'git', 'files', 'a.b', 'axb']

test.each([
  [undefined, NAMES],
  ['git', ['git']],
  ['git*', ['github', 'git']],
  ['git, files', ['git', 'files']],
  ['a.b', ['a.b']],
  ['*', NAMES],
  ['', []],
])('the filter %s means its names, with * for anything', (text, meant) => {
  expect(NAMES.filter(serverFilter(text))).toEqual(meant)
})
