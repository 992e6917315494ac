import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { hasTest } from '../support/titles.ts'

interface Row {
  readonly id: string
  readonly file: string
  readonly title: string
}

const rows: readonly Row[] = readFileSync('docs/acceptance.md', 'utf8')
  .split('\n')
  .filter((line) => line.startsWith('| S'))
  .map((line) => {
    const [, id = '', , file = '', title = ''] = line.split('|').map((cell) => cell.trim())
    return { id, file: file.replaceAll('`', ''), title }
  })

test('every row of the acceptance page names a test that exists', () => {
  const missing = rows.filter(({ file, title }) => !hasTest(file, title))
  expect(missing).toEqual([])
  expect(rows.length).toBeGreaterThan(80)
})

test('ids are written as in the acceptance list', () => {
  expect(rows.map(({ id }) => id).filter((id) => !/^S[0-4]\.\d+$/.test(id))).toEqual([])
})
