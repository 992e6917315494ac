import { expect, test } from 'vitest'
import { Deadlines } from './deadlines.ts'

test('each is over at its own time, the shortest first, whatever the order they came in', async () => {
  const over: string[] = []
  await new Promise<void>((resolve) => {
    const deadlines = new Deadlines<string>((item, after) => {
      over.push(`${item} after ${after}`)
      if (item === 'long') resolve()
    })
    deadlines.add('long', 60)
    deadlines.add('short', 5)
    deadlines.add('middle', 30)
  })
  expect(over).toEqual(['short after 5', 'middle after 30', 'long after 60'])
})

test('what ended in time is not over later, and what may take for ever never is', async () => {
  const over: string[] = []
  await new Promise<void>((resolve) => {
    const deadlines = new Deadlines<string>((item) => {
      over.push(item)
      if (item === 'last') resolve()
    })
    deadlines.add('endless', Infinity)
    deadlines.add('in time', 5)
    deadlines.delete('in time')
    deadlines.add('last', 20)
  })
  expect(over).toEqual(['last'])
})

test('one that is added when another is over is watched too', async () => {
  const over: string[] = []
  await new Promise<void>((resolve) => {
    const deadlines = new Deadlines<string>((item) => {
      over.push(item)
      if (item === 'first') deadlines.add('second', 1)
      else resolve()
    })
    deadlines.add('first', 1)
  })
  expect(over).toEqual(['first', 'second'])
})
