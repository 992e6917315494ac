import { expect, test } from 'vitest'
import { LiveCall, OpenCalls } from './live-session.ts'
import type { Id } from '../../protocol/message.ts'

test('a call is found by its id, whose type counts, until it is over', () => {
  const { open, make } = calls()
  const [one, text, far, huge] = [make(1), make('1'), make(1 + 1024), make(2 ** 40)]
  expect([open.get(1), open.get('1'), open.get(1025), open.get(2 ** 40)]).toEqual([one, text, far, huge])
  open.delete(one)
  open.delete(text)
  expect([open.get(1), open.get('1'), open.get(1025)]).toEqual([undefined, undefined, far])
  expect([open.get(2049), open.get(-1), open.get(0.5), open.get('')]).toEqual(Array(4).fill(undefined))
})

test('calls come in the order in which they were made, wherever they stand', () => {
  const { open, make } = calls()
  for (const id of [5, 'b', 3, 5 + 1024, 'a', 4]) make(id)
  expect(Array.from(open, ({ id }) => id)).toEqual([5, 'b', 3, 1029, 'a', 4])
})

test('of two calls with one id the later is answered, and the earlier is not forgotten', () => {
  for (const id of [7, 'seven']) {
    const { open, make } = calls()
    const [first, second, third] = [make(id), make(id), make(id)]
    expect(open.get(id)).toBe(third)
    expect([...open]).toEqual([first, second, third])
    open.delete(second)
    open.delete(third)
    open.delete(first)
    expect([...open]).toEqual([])
  }
})

test('the latest is the last that is open, and the very last when none is', () => {
  const { open, make, over } = calls()
  expect(open.latest()).toBeUndefined()
  const [first, second] = [make(1), make(2)]
  expect(open.latest()).toBe(second)
  over(second)
  expect(open.latest()).toBe(first)
  over(first)
  expect(open.latest()).toBe(second)
})

function calls(): { open: OpenCalls; make: (id: Id) => LiveCall; over: (call: LiveCall) => void } {
  const open = new OpenCalls()
  let number = 0
  const make = (id: Id): LiveCall => {
    const named = { id, token: undefined, text: '', expected: undefined }
    const call = new LiveCall({ ...named, timeout: 1 }, 0, number++)
    open.add(call)
    return call
  }
  const over = (call: LiveCall): void => {
    open.delete(call)
    call.end({ kind: 'open' }, 0)
  }
  return { open, make, over }
}
