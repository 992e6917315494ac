import { expect, test } from 'vitest'
import { reviewSecrets } from './redact.ts'
import type { AskQuestion } from '../output/terminal.ts'

const FINDINGS = [
  { value: 'ghp_0123456789', frames: [0, 2] },
  { value: 'hunter2', frames: [1, 2, 3, 4, 5, 6] },
  { value: 'no-secret-1', frames: [] },
]

/** Gives these answers, one after the other, and then leaves; the questions are kept. */
function answering(...answers: readonly string[]): { readonly ask: AskQuestion; readonly asked: string[] } {
  const asked: string[] = []
  const rest = [...answers]
  const ask: AskQuestion = async (question) => {
    asked.push(question)
    return rest.shift()
  }
  return { ask, asked }
}

test('each finding is shown with its places and hardly a character, and what is no secret is kept', async () => {
  const { ask, asked } = answering('', 'y', 'NO')
  expect(await reviewSecrets(FINDINGS, ask)).toEqual(['no-secret-1'])
  expect(asked).toEqual([
    '1 of 3: ghp…89 (14 characters), in the header, frame 2\n  a secret? [Y]es, no, show, all, quit: ',
    '2 of 3: h… (7 characters), in frame 1, frame 2, frame 3, frame 4, frame 5 and 1 more\n  a secret? [Y]es, no, show, all, quit: ',
    '3 of 3: n… (11 characters), cut off at the end of a frame\n  a secret? [Y]es, no, show, all, quit: ',
  ])
})

test('a value is shown whole only to who asks for it, and a word that means nothing is asked again', async () => {
  const { ask, asked } = answering('what', 'show', 'all')
  expect(await reviewSecrets(FINDINGS, ask)).toEqual([])
  expect(asked.map((question) => question.split(',')[0])).toEqual([
    '1 of 3: ghp…89 (14 characters)',
    '1 of 3: ghp…89 (14 characters)',
    '1 of 3: ghp_0123456789',
  ])
})

test('who leaves, in words or without, has decided nothing', async () => {
  expect(await reviewSecrets(FINDINGS, answering('no', 'quit').ask)).toBeUndefined()
  expect(await reviewSecrets(FINDINGS, answering('no').ask)).toBeUndefined()
})
