import { expect, test } from 'vitest'
import { FrameReader } from './frame-reader.ts'
import type { TapeReadState } from '../line-checks.ts'

const END = new TextEncoder().encode('{"n":2,"t":1,"event":"end","frames":2}')

test('a line that is too long to be read is reported and counted', () => {
  const state: TapeReadState = { ended: false, problems: [] }
  const lines = new FrameReader({ version: 1, state })
  lines.addOverlong(300_000_000, 2)
  lines.add(END, 3)
  expect(lines.takeFrames().map(({ n }) => n)).toEqual([2])
  expect(state).toEqual({ ended: true, problems: [{ line: 2, why: 'too long to be read: 300000000 bytes' }] })
})
