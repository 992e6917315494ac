import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { beforeAll, expect, test, vi } from 'vitest'
import { loadTape } from '../../src/store/file/read.ts'
import { reelay } from '../replay/reelay.ts'
import { REELAY, temporaryFolder } from '../support/recorder.ts'
import { sharedFolder } from '../support/shared-folder.ts'

vi.setConfig({ testTimeout: 120_000, hookTimeout: 60_000 })

const shop = (bug: string): readonly string[] => [process.execPath, resolve('scripts/shrink/server.mjs'), bug]

/** Records a session of 40 calls that ends in a bug. */
function recorded(bug: string, folder: string = temporaryFolder()): string {
  const tape = join(folder, 'bug.tape.jsonl')
  const client = [process.execPath, resolve('scripts/shrink/client.mjs'), bug, '40', '3']
  const [program = '', ...args] = client
  execFileSync(program, [...args, process.execPath, REELAY, 'record', '-q', '-o', tape, '--', ...shop(bug)])
  return tape
}

/** The calls of a tape with their arguments, without ids. */
async function callsOn(path: string): Promise<readonly string[]> {
  return (await loadTape(path)).turns.flatMap(({ trigger }) => {
    const params = trigger?.message.kind === 'request' ? trigger.message.params : undefined
    const { name, arguments: given } = (params ?? {}) as {
      name?: string
      arguments?: Record<string, unknown>
    }
    if (name === undefined) return []
    const rest = Object.entries(given ?? {}).filter(([key]) => key !== 'id')
    return [`${name} ${JSON.stringify(Object.fromEntries(rest))}`]
  })
}

let bug = ''
let small = ''
const folder = sharedFolder()
beforeAll(() => {
  bug = recorded('size-33', folder)
  small = join(folder, 'small.tape.jsonl')
})

test('a session is reduced to the calls that are needed, with the smallest values, and told in a few lines', async () => {
  const run = await reelay(
    'shrink',
    bug,
    '--fails',
    'is-error',
    '--allow-writes',
    '-o',
    small,
    '--',
    ...shop('size-33'),
  )
  expect(run.err).toBe('')
  expect(run.code).toBe(0)
  expect(await callsOn(small)).toEqual(['create {}', 'add {"quantity":99}', 'check {}'])
  expect(
    run.out
      .replaceAll(/[\da-f-]{36}/g, '<id>')
      .replaceAll(/\(\d+ tries in .*\)/g, '(tries)')
      .split('\n')
      .slice(0, 7),
  ).toEqual([
    'tools/call check fails: isError: internal error: the order is corrupt',
    '  1. #2 tools/call create {}: ok',
    '  2. #3 tools/call add {"id":"<id>","quantity":99}: ok',
    '  3. #4 tools/call check {"id":"<id>"}: the tool failed',
    '',
    '3 of 41 messages are needed, 2 with smaller values (tries)',
    'the smallest session failed in 3 of 3 runs',
  ])
})

test('its capsule fails again in another folder, and passes when the bug is fixed', async () => {
  const capsule = small.replace('.tape.jsonl', '.capsule.html')
  const again = await reelay('capsule', 'run', capsule, '--allow-writes', '--', ...shop('size-33'))
  expect([again.code, again.out]).toEqual([
    1,
    'tools/call check still fails (run 1): isError: internal error: the order is corrupt\n',
  ])
  const markdown = capsule.replace('.html', '.md')
  const fixed = await reelay('capsule', 'run', markdown, '--allow-writes', '--', ...shop('none'))
  expect([fixed.code, fixed.out]).toEqual([0, 'tools/call check does not fail any more (3 runs)\n'])
  const held = await reelay('capsule', 'run', capsule, '--', ...shop('size-33'))
  expect([held.code, held.out]).toEqual([
    3,
    'tools/call check could not be checked: a call was held back\n' +
      '  hint: calls of create,add were not sent because they may write; to send them: --allow create,add or --allow-writes\n',
  ])
  expect(readFileSync(capsule, 'utf8')).not.toMatch(/<script|src=|href=/)
})

test('a failure that needs two calls at once is kept with them', async () => {
  const tape = recorded('concurrency-43')
  const output = join(temporaryFolder(), 'small.tape.jsonl')
  const run = await reelay(
    'shrink',
    tape,
    '--fails',
    'is-error',
    '--allow-writes',
    '-o',
    output,
    '--',
    ...shop('concurrency-43'),
  )
  const calls = await callsOn(output)
  expect([calls.length, calls[0], calls.at(-1)]).toEqual([4, 'create {}', 'check {}'])
  expect(run.out).toContain('it needs requests that are open at the same time, as on the tape\n')
})

test('a client is shrunk by its test command, which gets the tape', async () => {
  const output = join(temporaryFolder(), 'small.tape.jsonl')
  const script = join(temporaryFolder(), 'test.mjs')
  const code = `import { readFileSync } from 'node:fs'
process.exit(readFileSync(process.argv[2], 'utf8').includes('"quantity":297') && process.env.REELAY_TAPE === process.argv[2] ? 3 : 0)`
  writeFileSync(script, code)
  const run = await reelay(
    'shrink',
    bug,
    '--fails',
    `command: "${process.execPath}" "${script}" {tape}`,
    '-o',
    output,
  )
  expect(run.code).toBe(0)
  expect((await callsOn(output)).filter((call) => call.includes('"quantity":297'))).toHaveLength(1)
  expect(run.out).toContain('the command fails: exit code 3\n')
  const capsule = await reelay('capsule', 'run', output.replace('.tape.jsonl', '.capsule.html'))
  expect([capsule.code, capsule.err.split('\n')[0]]).toEqual([
    2,
    'reelay: USAGE this capsule runs a test command, and a command of somebody else is never run by itself',
  ])
})

test('a session that does not fail is exit code 1, and says what was held back', async () => {
  const output = join(temporaryFolder(), 'small.tape.jsonl')
  const run = await reelay('shrink', bug, '--fails', 'is-error', '-o', output, '--', ...shop('none'))
  expect(run.code).toBe(1)
  expect(run.err).toMatch(
    /^reelay: NOT_REPRODUCED no call of the session fails: is-error\n {2}hint: calls of create,/,
  )
  expect(existsSync(output)).toBe(false)
})

test('what was found when the tries are used up is on the disk', async () => {
  const output = join(temporaryFolder(), 'small.tape.jsonl')
  const run = await reelay(
    'shrink',
    bug,
    '--fails',
    'is-error',
    '--allow-writes',
    '--probes',
    '4',
    '-o',
    output,
    '--',
    ...shop('size-33'),
  )
  expect(run.code).toBe(0)
  expect(run.out).toContain('the search ended early: allow more with --probes or --for\n')
  expect((await callsOn(output)).at(-1)).toMatch(/^check /)
})

test.each([
  ['', 'is not a capsule'],
  ['<template id="reelay-capsule">{"capsule":1}</template>', 'is not a capsule'],
  [
    '<template id="reelay-capsule">{"capsule":2}</template><template id="reelay-capsule-tape">AAAA</template>',
    'is a damaged capsule',
  ],
  ['```reelay-capsule\n{"capsule":1}\nH4sIAAAA\n```', 'is a damaged capsule'],
])('a file that is no capsule is refused: %#', async (text, why) => {
  const file = join(temporaryFolder(), 'bad.capsule.html')
  writeFileSync(file, text)
  const run = await reelay('capsule', 'show', file)
  expect([run.code, run.err.split('\n')[0]]).toEqual([2, `reelay: CAPSULE_INVALID ${file} ${why}`])
})
