import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'

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
  const missing = rows.filter(({ file, title }) => !hasTest(readFileSync(file, 'utf8'), title))
  expect(missing).toEqual([])
  expect(rows.length).toBeGreaterThan(80)
})

test('ids are written as in the acceptance list', () => {
  expect(rows.map(({ id }) => id).filter((id) => !/^S[0-4]\.\d+$/.test(id))).toEqual([])
})

function hasTest(source: string, title: string): boolean {
  const quoted = [`'${title.replaceAll("'", "\\'")}'`, `"${title}"`, `\`${title}\``]
  return quoted.some((text) => source.includes(text))
}
