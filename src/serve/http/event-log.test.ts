import { expect, test } from 'vitest'
import { EventLog } from './legacy-session.ts'

test('what came after an event is found, on its own stream alone', () => {
  const log = new EventLog<string>()
  const [first, , third, fourth] = [
    log.add('a', '1'),
    log.add('b', '2'),
    log.add('a', '3'),
    log.add('a', '4'),
  ]
  expect(log.find(first.id)).toBe(first)
  expect(log.after(first)).toEqual([third, fourth])
  expect(log.find('never')).toBeUndefined()
})

test('old events are forgotten, by their number and by their length; the newest never is', () => {
  const many = new EventLog<string>()
  const oldest = many.add('a', 'x')
  for (let event = 0; event < 1024; event++) many.add('a', 'x')
  expect(many.find(oldest.id)).toBeUndefined()
  const long = new EventLog<string>()
  const [one, two] = [long.add('a', 'x'.repeat(10_000_000)), long.add('a', 'x'.repeat(20_000_000))]
  expect([long.find(one.id), long.find(two.id)]).toEqual([undefined, two])
})
