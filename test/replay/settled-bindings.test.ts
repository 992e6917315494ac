import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { tapeBindings } from '../../src/replay/values/tape-bindings.ts'
import type { Tape } from '../../src/store/file/read.ts'
import type { Said } from '../support/tape-of.ts'
import { temporaryFolder } from '../support/recorder.ts'
import { against, called, foundIn, session } from '../support/against-tape.ts'

/** A plain word, which is bound by nothing but the user. */
const spoken = (word: string): readonly Said[] => [
  ...called(1, 'think_of_a_word', {}, { said: word }),
  ...called(2, 'check', { answer: word }, { right: true }),
]

/** A small number under another name, which is only a guess. */
const guessed = (id: number): readonly Said[] => [
  ...called(1, 'create_issue', {}, { id }),
  ...called(2, 'reply', { parent_id: id }, { done: true }),
]

const issue = (id: string): readonly Said[] => [
  ...called(1, 'create_issue', {}, { issue: { id } }),
  ...called(2, 'get_issue', { issue: id }, { open: true }),
]

const paged = (number: number): Tape =>
  session(
    ...called(1, 'open_page', {}, { page: { id: number } }),
    ...called(2, 'get_page', { page_id: 7 }, { text: 'the seventh' }),
  )

test('the bindings file beside a tape binds what could not be found', async () => {
  const tape = { ...session(...spoken('milk')), path: join(temporaryFolder(), 'word.tape.jsonl') }
  const live = session(...spoken('bread'))
  expect((await against(live, tape)).summary.verdict).toBe('fail')
  writeFileSync(
    tape.path.replace('.tape.jsonl', '.bindings.yaml'),
    "bind:\n  - from: '#2 result.structuredContent.said'\n    to: '#3 params.arguments.answer'\n",
  )
  const report = await against(live, tape)
  expect(foundIn(report)).toEqual([])
  expect(report.bindings).toMatchObject([{ value: 'milk', live: 'bread', standing: 'user' }])
})

test('a file that forbids a binding sends what was recorded', async () => {
  const path = join(temporaryFolder(), 'other.json')
  writeFileSync(path, JSON.stringify({ forbid: ['params.arguments.issue'] }))
  const tape = session(...issue('a1b2c3d4'))
  const correlate = await tapeBindings(tape, { bindings: path })
  const report = await against(session(...issue('zz99yy88')), tape, { correlate })
  expect(report.steps.at(-1)).toMatchObject({ sent: expect.stringContaining('a1b2c3d4') as string })
  expect(report.summary.verdict).toBe('fail')
})

test('a guess that makes the second run pass is confirmed, and the report says so', async () => {
  const report = await against(session(...guessed(9)), session(...guessed(7)), { repeat: 2 })
  expect(foundIn(report)).toEqual([])
  expect(report.notes).toEqual([
    'a guess is confirmed: #3 params.arguments.parent_id is the value of #2 result.structuredContent.id',
  ])
  expect(report.bindings).toMatchObject([{ value: '7', live: '9', standing: 'confirmed' }])
})

test('a binding without which the second run passes is refuted, and the report says so', async () => {
  const report = await against(paged(9), paged(7), { repeat: 2 })
  expect(foundIn(report)).toEqual(['open_page done values result.structuredContent.page.id changed [7,9]'])
  expect(report.bindings).toMatchObject([{ value: '7', standing: 'refuted' }])
  expect(report.notes.join()).toMatch(/^a binding is refuted: #3 params.arguments.page_id/)
})

test('a second recording settles guesses before anything is sent, and shows what is noise', async () => {
  const tape = session(...guessed(7), ...called(3, 'weather', {}, { degrees: 20 }))
  const baseline = session(...guessed(8), ...called(3, 'weather', {}, { degrees: 23 }))
  const live = session(...guessed(9), ...called(3, 'weather', {}, { degrees: 21 }))
  const { bindings } = await tapeBindings(tape, { baseline })
  expect(bindings.map(({ value, standing }) => `${value} ${standing}`)).toEqual(['7 confirmed'])
  const report = await against(live, tape, { baseline })
  expect(foundIn(report)).toEqual([])
  expect(report.noise.map(({ tool, path }) => `${tool} ${path}`)).toContain(
    'weather result.structuredContent.degrees',
  )
})
