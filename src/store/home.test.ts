import { homedir } from 'node:os'
import { join, resolve } from 'node:path'
import { expect, test } from 'vitest'
import { ReelayError } from '../errors.ts'
import { homeFolder, newTapeArgument, resolveTape, tapeFolder } from './home.ts'

const home = resolve('some', 'home')
const env = { REELAY_HOME: home }

test('tapes are stored in REELAY_HOME, or in the home folder of the user', () => {
  expect(tapeFolder(env)).toBe(join(home, 'tapes'))
  expect(homeFolder({})).toBe(join(homedir(), '.reelay'))
  expect(homeFolder({ REELAY_HOME: '' })).toBe(join(homedir(), '.reelay'))
})

test.each(['login', 'a', 'v1.2_final-3', '-x', 'CONcert', 'x'.repeat(120)])('%s is a name', (name) => {
  expect(resolveTape(name, env)).toBe(join(home, 'tapes', `${name}.tape.jsonl`))
})

test.each(['./login', 'sub/login', '../login', 'login.jsonl', 'login.tape.jsonl', '/tmp/x', '../..'])(
  '%s is a path and stays one',
  (path) => {
    expect(resolveTape(path, env)).toBe(resolve(path))
  },
)

test('the error for an invalid name has a reason and a hint', () => {
  const names = [
    '',
    '.',
    '..',
    '.hidden',
    'a b',
    'a\\b',
    'naïve',
    '😀',
    'a\n',
    'a\0',
    'CON',
    'nul.txt',
    'lpt1',
    'x'.repeat(121),
  ]
  expect(names.map((name) => refusal(name))).toMatchInlineSnapshot(`
    [
      """ cannot be the name of a tape: it is empty",
      ""." cannot be the name of a tape: it begins with a dot",
      "".." cannot be the name of a tape: it begins with a dot",
      "".hidden" cannot be the name of a tape: it begins with a dot",
      ""a b" cannot be the name of a tape: it contains " "",
      ""a\\\\b" cannot be the name of a tape: it contains "\\\\"",
      ""naïve" cannot be the name of a tape: it contains "ï"",
      ""😀" cannot be the name of a tape: it contains "😀"",
      ""a\\n" cannot be the name of a tape: it contains "\\n"",
      ""a\\u0000" cannot be the name of a tape: it contains "\\u0000"",
      ""CON" cannot be the name of a tape: Windows reserves it for a device",
      ""nul.txt" cannot be the name of a tape: Windows reserves it for a device",
      ""lpt1" cannot be the name of a tape: Windows reserves it for a device",
      ""x…" cannot be the name of a tape: it has 121 characters, and 120 are allowed",
    ]
  `)
})

function refusal(name: string): string {
  try {
    return `resolved to ${resolveTape(name, env)}`
  } catch (error) {
    if (!(error instanceof ReelayError) || error.code !== 'NAME_INVALID' || !error.hint) throw error
    return error.message.replace(/x{9,}/, 'x…')
  }
}

test('a new tape with a path without an ending gets that of tapes, unless there is such a file', () => {
  expect(newTapeArgument('tapes/notes')).toBe('tapes/notes.tape.jsonl')
  for (const kept of ['notes', 'tapes/notes.jsonl', 'tapes/v1.2', '/dev/null', './src', 'tapes/'])
    expect(newTapeArgument(kept)).toBe(kept)
})
