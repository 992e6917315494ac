import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { fixtureServer, linesOf, record, REELAY, start, temporaryFolder } from '../support/recorder.ts'
import { leaks, LOOKS, NAMED, type Planted } from '../support/planted.ts'

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
    /^(.*?): 2 secrets in [34] of [78] frames\n {2}in #2, #3, #4(, #5)?\n/.exec(found.stdout) ?? []
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
        / replaced, and none of them is left\n {2}played to itself: 3 requests answered as on the tape\n$/,
      )
      expect(leaks(readFileSync(copy, 'utf8'), secrets)).toEqual([])
      expect(process.platform === 'win32' || (statSync(copy).mode & 0o777) === 0o600).toBe(true)
      expect(readdirSync(dirname(copy))).toEqual(['shared.tape.jsonl'])
    }),
    { numRuns: 3, endOnFailure: true },
  )
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

test('a tape with a line that cannot be read is not shared, and an existing file is not written over', async () => {
  const tape = await plainTape([{ kind: 'password', value: 'hunter2-and-more' }])
  const copy = join(temporaryFolder(), 'shared.tape.jsonl')
  writeFileSync(copy, 'mine')
  expect((await reelay('share', tape, '-o', copy)).stdout).toContain(
    `wrote ${copy.replace('.tape', '-2.tape')}`,
  )
  expect(readFileSync(copy, 'utf8')).toBe('mine')
  writeFileSync(tape, `${readFileSync(tape, 'utf8')}garbage hunter2-and-more\n`)
  const refused = await reelay('share', tape, '-o', join(dirname(copy), 'other.tape.jsonl'))
  expect(refused).toMatchObject({ code: 3, stdout: '' })
  expect(readdirSync(dirname(copy))).not.toContain('other.tape.jsonl')
})

test('rules of the command line find more, leave more alone, and are kept in the config if wanted', async () => {
  const tape = await plainTape([{ kind: 'password', value: 'hunter2-and-more' }])
  const folder = temporaryFolder()
  const redact = async (...args: readonly string[]): Promise<Ran> => {
    const run = start([process.execPath, REELAY, 'redact', tape, ...args], { cwd: folder })
    const { code } = await run.exited
    return { code, stdout: run.stdout().toString(), stderr: run.stderr() }
  }
  const allowed = ['--allow', 'hunter2-and-more', '--allow', '/^4711$/']
  expect(await redact(...allowed)).toMatchObject({ code: 0, stdout: `${tape}: no secrets\n` })
  expect((await redact(...allowed, '--rule', 'greeting=so: h')).code).toBe(1)
  expect((await redact(...allowed, '--save')).stderr).toBe(`kept in ${join(folder, 'reelay.config.yaml')}\n`)
  expect(readFileSync(join(folder, 'reelay.config.yaml'), 'utf8')).toBe(
    'redaction:\n  allow:\n    - hunter2-and-more\n    - /^4711$/\n',
  )
  expect(await redact()).toMatchObject({ code: 0, stdout: `${tape}: no secrets\n` })
})

test.each([
  [['--rule', 'nonsense'], /cannot read --rule "nonsense"/],
  [['--rule', 'x=('], /"\(" is no pattern/],
  [['--rule', 'x=a*'], /matches nothing at all/],
  [['--off', 'nonsense'], /there is no rule "nonsense"/],
  [['--review'], /--review writes a copy/],
  [['--review', '-o', 'copy.tape.jsonl'], /--review asks on a terminal, and there is none/],
])('redact refuses %j with a hint', async (args, message) => {
  const { code, stderr } = await reelay('redact', await plainTape([]), ...args)
  expect(code).toBe(2)
  expect(stderr).toMatch(message)
  expect(stderr).toMatch(/hint: /)
})
