import { replaceAt } from '../../wire/members.ts'
import type { FaultKind } from './fault.ts'

const WAYS: ReadonlyMap<unknown, Way> = new Map<unknown, Way>([
  [
    'truncated',
    { words: 'is answered with half a message', spoil: (text) => text.slice(0, text.length >> 1) },
  ],
  ['not-json', { words: 'is answered with what is no JSON', spoil: () => 'Internal Server Error' }],
  [
    'wrong-id',
    {
      words: 'is answered under another id',
      spoil: (text) => replaceAt(text, ['id'], '"reelay-wrong-id"'),
    },
  ],
])

interface Way {
  readonly words: string
  readonly spoil: (text: string) => string
}

/** The answer comes, and cannot be read as one. */
export const malformed: FaultKind = {
  name: 'malformed',
  takes: [...WAYS.keys()].join(', '),
  read: (value) => {
    const way = WAYS.get(value)
    if (way === undefined) return undefined
    return {
      words: way.words,
      hidesAnswer: true,
      strike: ({ play, reply }) =>
        play((text, source) => reply(text === undefined ? undefined : way.spoil(text), source)),
    }
  },
}
