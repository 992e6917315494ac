import { expect, test } from 'vitest'
import { againstRuns, called, foundIn, session } from '../../../test/support/against-tape.ts'
import { call, type Said } from '../../../test/support/tape-of.ts'
import type { Tape } from '../../store/file/read.ts'

const IDS = [
  '9f1c2ab4-03de-4a57-8c11-7be0d2f4a961',
  '2d7e60f8-91ab-4c3e-b5d2-60c8aa17e3f5',
  'c84b1d20-5f6e-47a9-9e03-1fd2b7c6a048',
]
const OTHERS = [
  'e10a7b93-2c4d-4f88-a6b1-03d9c5e7f214',
  '7b3f9c06-d8e1-4b25-94fa-5ac60e2d1b87',
  '40d5e2a9-6b17-4dc3-8f9e-b2a1c7f05e36',
]
const TICKETS = ['p7w2-z4', 'm5r9-a8']
const [RECORDED = '', ...LIVE] = IDS

/** Creates something and asks for it by its id, with a ticket that is always another one. */
function created(id: string, { found = id, ticket = 'k3x8-q1' } = {}): Tape {
  return session(
    ...called(1, 'create', {}, { id }),
    ...called(2, 'get', { id }, { ticket, item: { id: found } }),
  )
}

test('an id that the live server makes up and repeats is as recorded', async () => {
  const lives = LIVE.map((id, run) => created(id, { ticket: TICKETS[run] ?? '' }))
  const report = await againstRuns(lives, created(RECORDED))
  expect(foundIn(report)).toEqual([])
  expect(report.noise.map(({ path }) => path)).toEqual(['result.structuredContent.ticket'])
})

test('another id in place of a carried one is found in every run, beside noise', async () => {
  const lives = LIVE.map((id, run) => created(id, { found: OTHERS[run] ?? '', ticket: TICKETS[run] ?? '' }))
  const report = await againstRuns(lives, created(RECORDED))
  expect(report.summary.verdict).toBe('fail')
  expect(report.steps.flatMap(({ findings }) => findings)).toMatchObject([
    {
      path: 'result.structuredContent.item.id',
      message: 'is no longer the value of #2 result.structuredContent.id',
      inRuns: 2,
    },
  ])
})

test('a live id of another shape is found once, where it is made', async () => {
  const lives = ['9f1c2ab4', '2d7e60f8'].map((id, run) => created(id, { ticket: TICKETS[run] ?? '' }))
  const report = await againstRuns(lives, created(RECORDED))
  expect(report.summary.verdict).toBe('fail')
  expect(foundIn(report)).toEqual([expect.stringMatching(/^create .* result.structuredContent.id changed/)])
})

test('a short hexadecimal id that has only digits by chance is as recorded', async () => {
  const lives = ['17685198', '2d7e60f8'].map((id, run) => created(id, { ticket: TICKETS[run] ?? '' }))
  expect(foundIn(await againstRuns(lives, created('8f96cc0b')))).toEqual([])
})

test('another name that the client sends back is a change, unless other runs show that it is generated', async () => {
  const renamed = ['notes://final', 'notes://final'].map((id) => created(id))
  const report = await againstRuns(renamed, created('notes://draft'))
  expect(foundIn(report)[0]).toMatch(
    /^create .* result.structuredContent.id.host changed \["draft","final"\]/,
  )
  const generated = ['notes://amber', 'notes://ivory'].map((id) => created(id))
  expect((await againstRuns(generated, created('notes://draft'))).summary.verdict).toBe('pass')
})

/** Creates a note, and names its id and its address in a text. */
function told(id: string, other: string, seen: string): Tape {
  return session(
    ...called(1, 'create', {}, { id }),
    ...text(`note ${id} is at https://notes.example/${other}, seen ${seen}`),
  )
}

test('a wrong id is found in a text that also has the right one', async () => {
  const tape = told(RECORDED, RECORDED, 'k3x8-q1')
  const same = LIVE.map((id, run) => told(id, id, TICKETS[run] ?? ''))
  expect(foundIn(await againstRuns(same, tape))).toEqual([])
  const wrong = LIVE.map((id, run) => told(id, OTHERS[run] ?? '', TICKETS[run] ?? ''))
  const report = await againstRuns(wrong, tape)
  expect(foundIn(report)).toEqual([
    expect.stringContaining('is no longer the value of #2 result.structuredContent.id'),
  ])
})

test('a value that one response repeats from another must be repeated, also in a text', async () => {
  const lives = (say: (id: string, run: number) => string): readonly Tape[] =>
    LIVE.map((id, run) => session(...called(1, 'status', {}, { build: id }), ...text(say(id, run))))
  const tape = session(
    ...called(1, 'status', {}, { build: RECORDED }),
    ...text(`build ${RECORDED} took 12 s`),
  )
  const same = await againstRuns(
    lives((id, run) => `build ${id} took ${run + 20} s`),
    tape,
  )
  expect(foundIn(same)).toEqual([])
  const other = await againstRuns(
    lives((_, run) => `build ${OTHERS[run]} took ${run + 20} s`),
    tape,
  )
  expect(other.summary.verdict).toBe('fail')
  expect(foundIn(other)).toEqual([expect.stringMatching(/^log done values .* is no longer the value of #2/)])
})

test('a changed value is reported at its first place only', async () => {
  const report = await againstRuns([versions('b71e09f4')], versions('a90c3e5d'), { repeat: 2 })
  expect(foundIn(report)).toEqual([
    'status done values result.structuredContent.commit changed ["a90c3e5d","b71e09f4"]',
  ])
})

test('a random choice from the same values is noise, though the tape has one of them twice', async () => {
  const report = await againstRuns([draws(1, 3, 4), draws(3, 1, 2), draws(4, 2, 3)], draws(0, 1, 0))
  expect(foundIn(report)).toEqual([])
})

function text(said: string): readonly Said[] {
  return call(2, 'log', {}, said)
}

function versions(commit: string): Tape {
  return session(...called(1, 'status', {}, { commit }), ...called(2, 'about', {}, { built: { commit } }))
}

function draws(...drawn: readonly number[]): Tape {
  return session(
    ...drawn.flatMap((which, at) =>
      called(at + 1, 'draw', { at }, { card: OTHERS[which] ?? IDS[which - 3] }),
    ),
  )
}
