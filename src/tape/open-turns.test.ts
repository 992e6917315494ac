import fc from 'fast-check'
import { expect, test } from 'vitest'
import { OpenTurns } from './open-turns.ts'

const step = fc.oneof(
  { weight: 20, arbitrary: fc.constant('open' as const) },
  { weight: 40, arbitrary: fc.nat({ max: 100 }) },
  { weight: 1, arbitrary: fc.constant('ask' as const) },
)

test('the most recent open turn is known, in whatever order and however often the others are closed', () => {
  fc.assert(
    fc.property(fc.array(step, { minLength: 200, maxLength: 600, size: 'max' }), (steps) => {
      const turns = new OpenTurns<number>()
      const open = new Set<number>()
      const answers: { told: number | undefined; right: number | undefined }[] = []
      let sent = 0
      for (const one of [...steps, 'ask' as const]) {
        if (one === 'open') {
          turns.add(sent)
          open.add(sent++)
        } else if (one === 'ask') {
          answers.push({ told: turns.mostRecent, right: [...open].at(-1) })
        } else if (one < sent) {
          turns.close(one)
          open.delete(one)
        }
      }
      expect(answers.filter(({ told, right }) => told !== right)).toEqual([])
    }),
  )
})
