import { replaceValue } from '../../json/find.ts'
import type { FaultKind } from './fault.ts'

const MALFORMATIONS: ReadonlyMap<unknown, Malformation> = new Map<unknown, Malformation>([
  [
    'truncated',
    { description: 'is answered with half a message', damage: (text) => text.slice(0, text.length >> 1) },
  ],
  ['not-json', { description: 'is answered with what is no JSON', damage: () => 'Internal Server Error' }],
  [
    'wrong-id',
    {
      description: 'is answered under another id',
      damage: (text) => replaceValue(text, ['id'], '"reelay-wrong-id"'),
    },
  ],
])

interface Malformation {
  readonly description: string
  readonly damage: (text: string) => string
}

/** The answer comes, and cannot be read as one. */
export const malformed: FaultKind = {
  name: 'malformed',
  expects: [...MALFORMATIONS.keys()].join(', '),
  parse: (value) => {
    const way = MALFORMATIONS.get(value)
    if (way === undefined) return undefined
    return {
      description: way.description,
      hidesAnswer: true,
      apply: ({ play, reply }) =>
        play((text, source) => reply(text === undefined ? undefined : way.damage(text), source)),
    }
  },
}
