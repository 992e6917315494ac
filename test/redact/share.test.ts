import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { createRecording } from '../../src/record/recording.ts'
import { fixtureServer, linesOf, record, REELAY, start, temporaryFolder } from '../support/recorder.ts'
import { leaks, LOOKS, NAMED, type Planted } from '../support/planted.ts'
import { costlyCases } from '../support/cases.ts'

interface Ran {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

async function reelay(...args: readonly string[]): Promise<Ran> {
  const run = start([process.execPath, REELAY, ...args])
  const { code } = await run.exited
  return { code, stdout: run.stdout().toString(), stderr: run.stderr() }
}

/** A tape with everything on it, as a user of --no-redact has it. */
async function plainTape(secrets: readonly Planted[], pin = 4711): Promise<string> {
  const run = record(fixtureServer('repeat'), { options: ['--no-redact', '-q'] })
  for (const [index, { value }] of secrets.entries()) {
    const params = {
      name: 'x',
      arguments: { password: value, text: `so: ${value}.`, pin },
      complain: `E ${value}`,
    }
    run.child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id: index, method: 'tools/call', params })}\n`)
    await run.line(`"id":${index},"result"`)
  }
  run.child.stdin.end()
  await run.exited
  return run.tape
}

test('a tape with secrets is found out, copied without them, and the copy is clean', async () => {
  const secret = { kind: 'password', value: 'hunter2-and-more' }
  const tape = await plainTape([secret])
  const found = await reelay('redact', tape)
  expect(found).toMatchObject({ code: 1, stderr: '' })
  const [, head] =
    /^(.*?): 2 secrets in [34] of [78] frames\n {2}in frame 2, frame 3, frame 4(, frame 5)?\n/.exec(
      found.stdout,
    ) ?? []
  expect(head).toBe(tape)
  expect(found.stdout).not.toContain(secret.value)
  const copy = join(dirname(tape), 'copy.tape.jsonl')
  expect(await reelay('redact', tape, '-o', copy)).toEqual({
    code: 0,
    stdout: expect.stringMatching(
      /^wrote \S+copy.tape.jsonl: 2 secrets in [34] of [78] frames replaced\n$/,
    ) as string,
    stderr: '',
  })
  expect(leaks(readFileSync(copy, 'utf8'), [secret])).toEqual([])
  expect(linesOf(copy)).toHaveLength(linesOf(tape).length)
  expect(await reelay('redact', copy)).toMatchObject({ code: 0, stdout: `${copy}: no secrets\n` })
})

test('a shared copy holds none of the secrets, and answers as the tape does', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.oneof(LOOKS, NAMED), { minLength: 3, maxLength: 3 }), async (secrets) => {
      const tape = await plainTape(secrets)
      const copy = join(temporaryFolder(), 'shared.tape.jsonl')
      const shared = await reelay('share', tape, '-o', copy)
      expect(shared).toMatchObject({ code: 0, stderr: '' })
      expect(shared.stdout).toMatch(
        / replaced, and none of them is left\n {2}checked by replaying: 3 requests answered as on the tape\n$/,
      )
      expect(leaks(readFileSync(copy, 'utf8'), secrets)).toEqual([])
      expect(process.platform === 'win32' || (statSync(copy).mode & 0o777) === 0o600).toBe(true)
      expect(readdirSync(dirname(copy))).toEqual(['shared.tape.jsonl'])
    }),
    { ...costlyCases(3), endOnFailure: true },
  )
})

test('share prints the commands that copy the rules and the noise profile of a tape beside the copy', async () => {
  const tape = await plainTape([])
  const stem = tape.replace('.tape.jsonl', '')
  for (const kind of ['noise', 'match']) writeFileSync(`${stem}.${kind}.yaml`, '')
  const copy = join(dirname(tape), 'tapes', 'copy.tape.jsonl')
  const { stdout } = await reelay('share', tape, '-o', copy)
  expect(stdout).toContain(`    cp ${stem}.noise.yaml ${copy.replace('.tape.jsonl', '.noise.yaml')}\n`)
  expect(stdout).toContain(`    cp ${stem}.match.yaml ${copy.replace('.tape.jsonl', '.match.yaml')}\n`)
})

test('a secret where the protocol needs it keeps the copy from being written', async () => {
  const token = `ghp_${'a1'.repeat(18)}`
  const run = record(fixtureServer('repeat'), { options: ['--no-redact', '-q'] })
  const params = { name: token, arguments: { text: token } }
  run.child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params })}\n`)
  await run.line('"result"')
  run.child.stdin.end()
  await run.exited
  const copy = join(temporaryFolder(), 'shared.tape.jsonl')
  const refused = await reelay('share', run.tape, '-o', copy)
  expect(refused.code).toBe(1)
  expect(refused.stderr).toMatch(/^reelay: SHARE_REFUSED 1 of 1 secrets would still be in the copy\n/)
  expect(refused.stderr).not.toContain(token)
  expect(readdirSync(dirname(copy))).toEqual([])
})

test('a session that ended before an answer came can be shared all the same', async () => {
  const tape = join(temporaryFolder(), 'cut.tape.jsonl')
  const recording = createRecording({ tape })
  const link = recording.link({ server: 'slow', info: { transport: 'in-process', command: ['slow'] } })
  link.message('c2s', { jsonrpc: '2.0', id: 1, method: 'ping' })
  link.message('s2c', { jsonrpc: '2.0', id: 1, result: {} })
  link.message('c2s', { jsonrpc: '2.0', id: 2, method: 'tools/call', params: { name: 'slow' } })
  await recording.close()
  const shared = await reelay('share', tape, '-o', join(dirname(tape), 'shared.tape.jsonl'))
  expect(shared).toMatchObject({ code: 0, stderr: '' })
  expect(shared.stdout).toContain('checked by replaying: 1 request answered as on the tape')
})

test('a tape with a line that cannot be read is not shared, and an existing file is not written over', async () => {
  const tape = await plainTape([{ kind: 'password', value: 'hunter2-and-more' }])
  const copy = join(temporaryFolder(), 'shared.tape.jsonl')
  writeFileSync(copy, 'mine')
  const existing = await reelay('share', tape, '-o', copy)
  expect(existing).toMatchObject({ code: 2, stdout: '' })
  expect(existing.stderr).toContain(`${copy} exists`)
  expect(readFileSync(copy, 'utf8')).toBe('mine')
  writeFileSync(tape, `${readFileSync(tape, 'utf8')}garbage hunter2-and-more\n`)
  const refused = await reelay('share', tape, '-o', join(dirname(copy), 'other.tape.jsonl'))
  expect(refused).toMatchObject({ code: 3, stdout: '' })
  expect(readdirSync(dirname(copy))).not.toContain('other.tape.jsonl')
})

test('rules on the command line are added, switched off and overruled', async () => {
  const tape = await plainTape([{ kind: 'github', value: `ghp_${'a1'.repeat(18)}` }])
  const secrets = async (...flags: readonly string[]): Promise<unknown> =>
    Object(JSON.parse((await reelay('redact', tape, '--json', ...flags)).stdout))['secrets']
  expect(await secrets()).toBe(2)
  expect(await secrets('--rule', '/SO: /i')).toBe(3)
  expect(await secrets('--field', 'text')).toBe(3)
  expect(await secrets('--allow', '4711')).toBe(1)
  expect(await secrets('--allow', '4711', '--allow', '/^ghp_/')).toBe(0)
  expect(await secrets('--off', 'github')).toBe(2) // the name of its member still tells
  const copy = join(dirname(tape), 'ruled.tape.jsonl')
  expect(await reelay('share', tape, '-o', copy, '--rule', 'so')).toMatchObject({ code: 0 })
  expect(readFileSync(copy, 'utf8')).not.toContain('so: ')
})

test.each([
  [['--rule', '('], 'Unterminated group'],
  [['--rule', '/x*/'], 'it would match everywhere'],
  [['--allow', '/(/'], 'Unterminated group'],
  [['--off', 'nothing'], 'there is no rule "nothing" for --off'],
  [['--review'], '--review needs a terminal, and stdin is not one'],
])('redact %j is refused', async (flags, why) => {
  const tape = await plainTape([])
  const { code, stderr } = await reelay('redact', tape, ...flags)
  expect(stderr).toContain(why)
  expect(code).toBe(2)
})

test('a tape that somebody else has redacted is told from one with secrets', async () => {
  const env = { ...process.env, REELAY_HOME: temporaryFolder() }
  const run = record(fixtureServer('repeat'), { env })
  run.child.stdin.write(
    `${JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'm', params: { arguments: { password: 'hunter2-1' } } })}\n`,
  )
  await run.line('"id":1')
  run.child.stdin.end()
  await run.exited
  const { code, stdout } = await reelay('redact', run.tape)
  expect(code).toBe(1)
  expect(stdout).toMatch(
    /\n {2}the tape was redacted with the key k-\w+, which is not on this machine: these may be its placeholders\n$/,
  )
})
