import { PassThrough } from 'node:stream'
import { expect, test } from 'vitest'
import { outline, review } from './redact-review.ts'

test('each value is asked about, and only what is refused stays', async () => {
  const values = ['first-secret-value', 'second-secret-value', 'third-secret-value', 'fourth-secret-value']
  const { reviewed, shown } = reviewing(values, ['y', 'n', 'a', ''])
  expect(await reviewed).toEqual({
    allowed: ['second-secret-value', 'third-secret-value'],
    always: ['third-secret-value'],
  })
  for (const value of values) expect(shown()).not.toContain(value)
})

test('a review that is left changes nothing', async () => {
  const { reviewed } = reviewing(['first-secret-value', 'second-secret-value'], ['n', 'q'])
  await expect(reviewed).rejects.toMatchObject({ code: 'USAGE', hint: 'nothing was written' })
})

test('a value is shown by its ends, and a short one by its first letter', () => {
  expect([outline('ghp_abcdefghijkl'), outline('hunter2'), outline('x')]).toEqual([
    'ghp_…kl (16 characters)',
    'h… (7 characters)',
    'x… (1 character)',
  ])
})

function reviewing(
  values: readonly string[],
  answers: readonly string[],
): { reviewed: ReturnType<typeof review>; shown: () => string } {
  const [input, output] = [new PassThrough(), new PassThrough()]
  const left = [...answers]
  let text = ''
  output.on('data', (chunk: Buffer) => {
    text += String(chunk)
    const answer = text.endsWith(': ') ? left.shift() : undefined
    if (answer !== undefined) input.write(`${answer}\n`)
  })
  return { reviewed: review(values, { input, output, isTerminal: true }), shown: () => text }
}
