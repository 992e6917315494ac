import fc from 'fast-check'
import { expect, test } from 'vitest'
import { OpenTurns } from './conversation.ts'

test('the most recent open turn is found in whatever order the others are closed', () => {
  const step = fc.oneof(fc.constant('open' as const), fc.nat())
  fc.assert(
    fc.property(fc.array(step, { minLength: 100, maxLength: 400, size: 'max' }), (steps) => {
      const [turns, open] = [new OpenTurns<number>(), new Set<number>()]
      let sent = 0
      for (const one of steps) {
        if (one === 'open') {
          turns.add(sent)
          open.add(sent++)
        } else if (sent > 0) {
          turns.close(one % sent)
          open.delete(one % sent)
        }
      }
      expect(newestFirst(turns)).toEqual([...open].toReversed())
    }),
  )
})

function newestFirst(turns: OpenTurns<number>): readonly number[] {
  const all: number[] = []
  for (let turn = turns.mostRecent; turn !== undefined; turn = turns.mostRecent) {
    all.push(turn)
    turns.close(turn)
  }
  return all
}
