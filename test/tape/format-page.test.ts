import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { decodeFrame, encodeFrame } from '../../src/tape/codec.ts'
import { decodeHeader, encodeHeader } from '../../src/tape/header.ts'

const page = readFileSync('docs/reference/tape-format.md', 'utf8')
const examples = [...page.matchAll(/```jsonl\n(.*?)```/gs)].flatMap(([, block = '']) =>
  block.trimEnd().split('\n'),
)

test('every example of the format page is a line as the codec writes it', () => {
  expect(examples.length).toBeGreaterThan(10)
  expect(examples.map(rewritten)).toEqual(examples)
})

function rewritten(line: string): string {
  if (line.startsWith('{"reelay"')) return encodeHeader(decodeHeader(line))
  const frame = decodeFrame(line)
  return frame.kind === 'broken' ? frame.why : encodeFrame(frame)
}
