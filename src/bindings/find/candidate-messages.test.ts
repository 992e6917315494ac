import { expect, test, vi } from 'vitest'
import { turnStoreOf, type TurnStore, type RecordedMessage, type Turn } from '../../tape/turns.ts'
import { classifyMessage } from '../../protocol/message.ts'
import { TapeWords, type MessageWords } from './candidate-messages.ts'

test('the words of a tape are heard again as they were heard first, and the tape is read once', () => {
  const { turns, reads } = counted([
    exchange(1, 'find-me'),
    exchange(3, 'on 2026-11-15'),
    exchange(5, '{"in":1}'),
  ])
  const heard = new TapeWords(turns)
  const first = listed(heard)
  expect(first.map(({ isFromClient, isAlwaysCandidate }) => [isFromClient, isAlwaysCandidate])).toEqual([
    [true, false],
    [false, false],
    [true, true],
    [false, false],
    [true, true],
    [false, false],
  ])
  expect(listed(heard)).toEqual(first)
  expect(reads()).toBe(3)
})

test('a tape with more words than may be kept is read again for them', () => {
  const long = Array.from({ length: 3000 }, (_, at) => `w${at}x`).join('-')
  const { turns, reads } = counted([exchange(1, 'a1'), exchange(3, long)])
  const heard = new TapeWords(turns)
  const first = listed(heard)
  expect(first[2]?.words.length).toBe(3000)
  expect(listed(heard)).toEqual(first)
  expect(listed(heard)).toEqual(first)
  expect(reads()).toBe(6)
})

interface Listed extends Omit<MessageWords, 'hashes'> {
  readonly words: readonly number[]
}

function listed(heard: TapeWords): readonly Listed[] {
  const all: Listed[] = []
  heard.each(({ hashes, ...one }) => {
    all.push({ ...one, words: Array.from({ length: hashes.size }, (_, at) => hashes.at(at)) })
  })
  return all
}

function counted(turns: readonly Turn[]): { turns: TurnStore; reads: () => number } {
  const held = turnStoreOf(turns)
  const read = vi.spyOn(held, 'at')
  return { turns: held, reads: () => read.mock.calls.length }
}

function exchange(n: number, argument: string): Turn {
  const params = { name: 'find', arguments: { argument } }
  const trigger = spoken(n, 'c2s', { jsonrpc: '2.0', id: n, method: 'tools/call', params })
  const response = spoken(n + 1, 's2c', { jsonrpc: '2.0', id: n, result: { found: `item ${n}` } })
  return { trigger, steps: [{ kind: 'respond', message: response }], response }
}

function spoken(n: number, dir: RecordedMessage['dir'], value: object): RecordedMessage {
  const message = classifyMessage(value)
  if (message.kind === 'batch') throw new Error('no batch')
  return { n, t: n, server: 's', conn: 1, dir, text: JSON.stringify(value), message }
}
