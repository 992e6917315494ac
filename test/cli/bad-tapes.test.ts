import { spawnSync } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { REELAY, temporaryFolder } from '../support/recorder.ts'

const HEADER =
  '{"reelay":1,"id":"01ABC","started":"2026-11-15T07:20:59.123Z","by":"reelay 0.1.0","servers":{},"tags":{}}\n'

const bad: [what: string, content: string | Buffer, code: string][] = [
  ['an empty file', '', 'TAPE_EMPTY'],
  ['a binary file', Buffer.from([0x89, 0x50, 0x4e, 0x47, 0, 1, 2, 0xff, 10, 0, 0xfe]), 'TAPE_NOT_OURS'],
  ['a text that is no tape', 'hello\nworld\n', 'TAPE_NOT_OURS'],
  ['JSON that is no tape', '{"messages":[]}\n', 'TAPE_NOT_OURS'],
  ['a tape newer than us', HEADER.replace('"reelay":1', '"reelay":99'), 'TAPE_TOO_NEW'],
  ['a header that was cut', HEADER.slice(0, 40), 'TAPE_BROKEN'],
  [
    'a header edited into nonsense',
    HEADER.replace('"started":"2026-11-15T07:20:59.123Z"', '"started":[]'),
    'TAPE_BROKEN',
  ],
]

for (const command of ['inspect', 'serve']) {
  test.each(bad)(
    `${command}: %s is one clear error with a hint and exit code 3, and the file is not changed`,
    (_, content, code) => {
      const file = join(temporaryFolder(), 'x.tape.jsonl')
      writeFileSync(file, content)
      const { status, stdout, stderr } = spawnSync(process.execPath, [REELAY, command, file], {
        encoding: 'utf8',
        input: '',
      })
      expect(stderr).toMatch(new RegExp(`^reelay: ${code} [^\\n]+\\n {2}hint: [^\\n]+\\n$`))
      expect({ status, stdout }).toEqual({ status: 3, stdout: '' })
      expect(readFileSync(file).equals(Buffer.from(content))).toBe(true)
    },
  )

  test(`${command}: a folder, and a file that is not there, are errors of their own`, () => {
    const folder = temporaryFolder()
    mkdirSync(join(folder, 'x.jsonl'))
    expect(complaintOf(command, join(folder, 'x.jsonl'))).toMatch(/^reelay: TAPE_IS_A_FOLDER /)
    expect(complaintOf(command, join(folder, 'y.jsonl'))).toMatch(/^reelay: TAPE_NOT_FOUND /)
  })
}

function complaintOf(command: string, path: string): string {
  return spawnSync(process.execPath, [REELAY, command, path], { encoding: 'utf8' }).stderr
}

test('a tape whose frames were edited into nonsense opens, and each bad line is named', () => {
  const file = join(temporaryFolder(), 'x.tape.jsonl')
  writeFileSync(file, `${HEADER}{"n":-1}\nnonsense\n{"n":1,"t":1,"event":"exit","code":0}\n{"n":2,"t"`)
  const { status, stdout } = spawnSync(process.execPath, [REELAY, 'inspect', file], { encoding: 'utf8' })
  expect(status).toBe(0)
  for (const line of [2, 3, 5]) expect(stdout).toContain(`line ${line}`)
})
