import { mkdtemp, open, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { readFileLines } from './file-lines.ts'

const MIB = 1024 * 1024

async function linesOf(text: string, maxBytes = 100 * MIB): Promise<readonly (string | boolean)[]> {
  const path = join(await mkdtemp(join(tmpdir(), 'reelay-')), 'lines')
  await writeFile(path, text)
  const file = await open(path, 'r')
  const lines: (string | boolean)[] = []
  const isWhole = await readFileLines(file, {
    onChunk: () => {},
    onLine: ({ bytes, start, end, at, number }) =>
      lines.push(`${number} at ${at}: ${shown(bytes.toString('utf8', start, end))}`),
    onTruncated: ({ bytes, start, end }) => lines.push(`rest: ${shown(bytes.toString('utf8', start, end))}`),
    maxBytes,
  })
  await file.close()
  return [...lines, isWhole]
}

function shown(line: string): string {
  return line.length < 20 ? line : `${line.length} x ${[...new Set(line)].join('')}`
}

test('lines longer than a buffer are read completely, whatever surrounds them', async () => {
  const text = `a\n${'b'.repeat(9 * MIB)}\n\r\n${'c'.repeat(5 * MIB)}\r\nd\n${'e'.repeat(3 * MIB)}`
  expect(await linesOf(text)).toEqual([
    '1 at 0: a',
    `2 at 2: ${9 * MIB} x b`,
    `4 at ${9 * MIB + 5}: ${5 * MIB} x c`,
    `5 at ${14 * MIB + 7}: d`,
    `rest: ${3 * MIB} x e`,
    true,
  ])
})

test('reading stops at a line beyond the bound, without keeping it in memory', async () => {
  expect(await linesOf(`a\n${'b'.repeat(9 * MIB)}\n`, 4 * MIB)).toEqual(['1 at 0: a', false])
})
