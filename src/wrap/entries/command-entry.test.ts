import { expect, test } from 'vitest'
import { CONFIG_FORMATS } from '../configs/formats/index.ts'
import { parseWrappedCommand, type WrappedCommand } from './command-entry.ts'

const PROGRAM = '/opt/reelay/dist/cli/main.js'

test.each([
  [
    'as wrap writes it',
    '/bin/node',
    [PROGRAM, 'record', '--server', 'a', 'a-zed', '--', 'npx', '-y', 'a'],
    'a-zed',
  ],
  ['on Windows', 'C:\\node.exe', ['C:\\reelay\\dist\\cli\\main.js', 'record', 'a', '--', 'a'], 'a'],
  ['from the PATH', 'reelay', ['record', '-q', 'a', '--', 'a'], 'a'],
  ['with an option instead of a name', 'reelay', ['record', '--server', 'a', '--', 'a'], undefined],
  ['through npx', 'npx', ['-y', 'reelay@1.4.2', 'record', 'a', '--', 'a'], 'a'],
])('an entry that starts a recorder is known: %s', (_, command, args, tape) => {
  const wrapped = read(command, args)
  expect(wrapped?.tape).toBe(tape)
  expect(args[wrapped?.commandIndex ?? -1]).toBe(args[args.indexOf('--') + 1])
})

test('an entry that starts a bridge is known, and a server with a --bridge of its own is not taken for one', () => {
  const bridge = [PROGRAM, 'record', '--bridge', '--server', 'a', '--url', 'https://host/mcp', 'a-zed']
  expect(read('/bin/node', bridge)).toEqual({
    recorderCommand: ['/bin/node', PROGRAM],
    tape: 'a-zed',
    commandIndex: undefined,
  })
  expect(read('reelay', ['record', 'a', '--', 'npx', '--bridge'])).toMatchObject({
    tape: 'a',
    commandIndex: 3,
  })
})

test.each([
  ['something else that records', 'ffmpeg', ['record', '--', 'x']],
  ['something that holds our words further on', 'npx', ['tool', 'reelay', '--', 'x']],
  ['a recorder without a server', 'reelay', ['record', 'a', '--']],
  ['another command of ours', 'reelay', ['serve', 'record', '--', 'x']],
  ['a plain server', 'npx', ['-y', 'a']],
])('an entry that does not is left alone: %s', (_, command, args) => {
  expect(read(command, args)).toBeUndefined()
})

function read(command: string, args: readonly string[]): WrappedCommand | undefined {
  const [entry] = CONFIG_FORMATS.json.readEntries(JSON.stringify({ servers: { a: { command, args } } }), [
    'servers',
  ])
  return entry && parseWrappedCommand(entry.link)
}
