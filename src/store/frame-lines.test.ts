import { expect, test } from 'vitest'
import { FrameLines } from './frame-lines.ts'
import type { TapeState } from './line-checks.ts'

const END = new TextEncoder().encode('{"n":2,"t":1,"event":"end","frames":2}')

test('a line that is too long to be read is reported and counted', () => {
  const state: TapeState = { ended: false, problems: [] }
  const lines = new FrameLines({ version: 1, state })
  lines.addOverlong(300_000_000, 2)
  lines.add(END, 3)
  expect(lines.taken().map(({ n }) => n)).toEqual([2])
  expect(state).toEqual({ ended: true, problems: [{ line: 2, why: 'too long to be read: 300000000 bytes' }] })
})
