import { spawnSync } from 'node:child_process'
import { expect, test } from 'vitest'
import { REELAY } from '../support/recorder.ts'

test.each([['demo'], ['help record'], ['--help'], ['inspect test/fixtures/tapes/v1-first.tape.jsonl -v']])(
  '%s: a reader who leaves early is no error',
  (args) => {
    const script = `"$0" "$1" ${args} | head -n 1`
    const { stderr } = spawnSync('/bin/sh', ['-c', script, process.execPath, REELAY], { encoding: 'utf8' })
    expect(stderr).toBe('')
  },
)

test('a result that cannot be written is one clear error', () => {
  const script = '"$0" "$1" inspect test/fixtures/tapes/v1-first.tape.jsonl > /dev/full; echo "exit $?"'
  const { stdout, stderr } = spawnSync('/bin/sh', ['-c', script, process.execPath, REELAY], {
    encoding: 'utf8',
  })
  expect(stderr).toBe(
    'reelay: REPORT_UNWRITABLE the output cannot be written: no space left on device\n' +
      '  hint: check where stdout goes, and whether there is space left\n',
  )
  expect(stdout).toBe('exit 3\n')
})
