import { Command } from 'commander'
import { expect, test } from 'vitest'
import { declarePlayOptions } from './serve-options.ts'
import { formatPlayFlags } from '../play-words.ts'

test.each([
  [[]],
  [['--pace', 'recorded', '--pace-cap', '250ms']],
  [['--pace', 'x0.5', '--order', 'recorded', '--on-client-answer', 'fail']],
  [['--override', 'a.yaml', '--faults', 'b.yaml', '--seed', '7', '--clock', 'recorded']],
  [['--clock', '2026-11-15T00:00:00.000Z']],
])('the options of playing are written as they were read: %j', (words) => {
  const command = declarePlayOptions(new Command()).parse(words, { from: 'user' })
  expect(formatPlayFlags(command.opts())).toEqual(words)
})

test('a path with a space can be pasted into a shell', () => {
  expect(formatPlayFlags({ faults: 'my faults.yaml' })).toEqual(['--faults', "'my faults.yaml'"])
})
