import { Client } from '@modelcontextprotocol/client'
import { writeFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { loadTape, replayTransport, type ReplayTransportOptions, type Tape } from '../../src/index.ts'
import { tapeFile } from './tape-file.ts'
import { call, HANDSHAKE, tapeOf } from '../support/tape-of.ts'

const BOOKING = [...HANDSHAKE, ...call(1, 'book', { on: '2026-11-22', seats: 2 }, 'booked')]
const WEEK_LATER = (): number => Date.parse('2026-11-22T09:00:00Z')

test('a transport takes a strategy and rules, and notes what they let through', async () => {
  const notes: string[] = []
  const options = { match: 'subset', rules: ['params.arguments.on relative-date'], now: WEEK_LATER }
  const onNote = (note: string): void => void notes.push(note)
  expect(await booked(tapeOf(...BOOKING), { ...options, onNote }, { on: '2026-11-29' })).toBe('booked')
  expect(notes).toEqual(['answered loosely, by match subset: tools/call book {"on":"2026-11-29"}, with #2'])
})

test('rules that stand beside a tape come with the tape', async () => {
  const path = tapeFile(...BOOKING)
  writeFileSync(
    path.replace('.tape.jsonl', '.match.yaml'),
    'rules:\n  - tools/call book params.arguments.seats number within 1\n',
  )
  expect(await booked(await loadTape(path), {}, { on: '2026-11-22', seats: 3 })).toBe('booked')
})

test('the advice to a program is a call of the library, with what it was given already', async () => {
  const rules = ['params.arguments.on any']
  await expect(
    booked(tapeOf(...BOOKING), { rules, drift: 'ignore' }, { on: 'soon', seats: 9 }),
  ).rejects.toMatchObject({
    data: {
      accept:
        'replayTransport(tape, { ignore: ["params.arguments.seats"], rules: ["params.arguments.on any"] })',
    },
  })
})

async function booked(tape: Tape, options: ReplayTransportOptions, args: object): Promise<unknown> {
  const client = new Client({ name: 'tester', version: '9' })
  await client.connect(replayTransport(tape, options))
  try {
    const { content } = await client.callTool({ name: 'book', arguments: { ...args } })
    return Array.isArray(content) && content[0]?.type === 'text' ? content[0].text : content
  } finally {
    await client.close()
  }
}
