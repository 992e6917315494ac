import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { createRecording } from '../../src/record/recording.ts'
import { ended, type Ended } from '../auto/program.ts'
import { REELAY, temporaryFolder } from '../support/recorder.ts'

const messages = (id: string) =>
  [
    ['c2s', { id: 1, method: 'tools/call', params: { name: 'create_issue', arguments: { title: 'a bug' } } }],
    ['s2c', { id: 1, result: { structuredContent: { issue: { id, number: 7 } } } }],
    [
      'c2s',
      {
        id: 2,
        method: 'tools/call',
        params: { name: 'close', arguments: { ref: `x/${id}`, issue: id, parent_id: 7 } },
      },
    ],
    ['s2c', { id: 2, result: { content: [] } }],
  ] as const

/** A tape on which an id comes back as a part, and a number that may or may not be one. */
async function issueTape(id = 'a1b2c3d4'): Promise<string> {
  const tape = join(temporaryFolder(), 'issue.tape.jsonl')
  const recording = createRecording({ tape })
  const link = recording.link({ server: 'tracker', info: { transport: 'in-process' } })
  for (const [direction, message] of messages(id)) link.message(direction, { jsonrpc: '2.0', ...message })
  link.event('close')
  await recording.close()
  return tape
}

const inspect = (...args: string[]): Promise<Ended> =>
  ended([process.execPath, REELAY, 'inspect', ...args], {})

test('the values that the server made up are shown with where they came from, where they went, and why', async () => {
  const tape = await issueTape()
  const { stdout, code } = await inspect(tape, '--bindings')
  expect(code).toBe(0)
  expect(stdout.replace(tape, 'TAPE')).toMatchInlineSnapshot(`
    "TAPE
    1 value from the server sent back in 2 places

    a1b2c3d4  high: a value that is unlikely to be generated twice
      #1 result.structuredContent.issue.id
      → #2 params.arguments.ref > characters 2-10
      → #2 params.arguments.issue

    guesses, bound only if a second run confirms them
      7: #1 result.structuredContent.issue.number → #2 params.arguments.parent_id
    "
  `)
})

test('bindings for programs', async () => {
  const { stdout } = await inspect(await issueTape(), '--bindings', '--json')
  expect(JSON.parse(stdout)).toMatchObject({
    bindings: [
      {
        value: 'a1b2c3d4',
        from: '#1 result.structuredContent.issue.id',
        also: [],
        to: ['#2 params.arguments.ref > characters 2-10', '#2 params.arguments.issue'],
        confidence: 'high',
        standing: 'found',
      },
    ],
    guesses: [{ value: '7', to: ['#2 params.arguments.parent_id'] }],
  })
})

test('a bindings file beside the tape adds to what was found and forbids some of it', async () => {
  const tape = await issueTape()
  const file = [
    'bind:',
    '  - from: "#1 result.structuredContent.issue.number"',
    '    to: "#2 params.arguments.parent_id"',
    'forbid: [params.arguments.ref, params.arguments.issue]',
  ]
  writeFileSync(tape.replace('.tape.jsonl', '.bindings.yaml'), file.join('\n'))
  const { stdout } = await inspect(tape, '--bindings', '--json')
  expect(JSON.parse(stdout)).toMatchObject({
    bindings: [
      { value: '7', to: ['#2 params.arguments.parent_id'], confidence: 'certain', standing: 'user' },
    ],
    guesses: [],
  })
})

test('found bindings are printed as a file that can be kept beside the tape', async () => {
  const tape = await issueTape()
  const { stdout } = await inspect(tape, '--bindings-file')
  expect(stdout).toMatchInlineSnapshot(`
    "bind:
      - from: "#1 result.structuredContent.issue.id"
        to:
          - "#2 params.arguments.ref > characters 2-10"
          - "#2 params.arguments.issue"
        note: "a1b2c3d4: a value that is unlikely to be generated twice"
    forbid: []
    "
  `)
  writeFileSync(tape.replace('.tape.jsonl', '.bindings.yaml'), stdout)
  const kept = JSON.parse((await inspect(tape, '--bindings', '--json')).stdout)
  expect(kept).toMatchObject({ bindings: [{ value: 'a1b2c3d4', standing: 'user' }] })
})

test('nothing in a value can steer the terminal, in any view of bindings', async () => {
  const tape = await issueTape('\u001b[31m\u202ea1b2c3d4')
  for (const flags of [['--bindings'], ['--bindings', '--json'], ['--bindings-file']])
    expect((await inspect(tape, ...flags)).stdout).not.toMatch(/\u202e|\p{Cc}\[/u)
})

test('a bindings file that cannot be read is refused with its place', async () => {
  const tape = await issueTape()
  writeFileSync(tape.replace('.tape.jsonl', '.bindings.yaml'), 'bind:\n  - {from: "#2 a", to\n')
  const broken = await inspect(tape, '--bindings')
  expect(broken.code).toBe(2)
  expect(broken.stderr).toMatch(/issue\.bindings\.yaml cannot be read: .* at line 3/)
  writeFileSync(
    tape.replace('.tape.jsonl', '.bindings.yaml'),
    'bind:\n  - from: "#1 result.nothing"\n    to: "#2 params.arguments.ref"\n',
  )
  const wrong = await inspect(tape, '--bindings')
  expect(wrong.code).toBe(2)
  expect(wrong.stderr).toContain('there is no string or number at #1 result.nothing')
})
