import { replaceValue } from '../../json/find-replace.ts'
import type { FaultKind } from '../fault.ts'

interface Malformation {
  readonly description: string
  readonly damage: (text: string) => string
}

const MALFORMATIONS: ReadonlyMap<unknown, Malformation> = new Map<unknown, Malformation>([
  [
    'truncated',
    { description: 'is answered with half a message', damage: (text) => text.slice(0, text.length >> 1) },
  ],
  [
    'not-json',
    { description: 'is answered with text that is not JSON', damage: () => 'Internal Server Error' },
  ],
  [
    'wrong-id',
    {
      description: 'is answered under another id',
      damage: (text) => replaceValue(text, ['id'], '"reelay-wrong-id"'),
    },
  ],
])

/** Damages the response so that a client cannot use it. */
export const malformed: FaultKind = {
  name: 'malformed',
  expects: [...MALFORMATIONS.keys()].join(', '),
  parse: (value) => {
    const malformation = MALFORMATIONS.get(value)
    if (malformation === undefined) return undefined
    const { description, damage } = malformation
    return {
      description,
      hidesResponse: true,
      apply: ({ play, reply }) =>
        play((text, source) => reply(text === undefined ? undefined : damage(text), source)),
    }
  },
}
