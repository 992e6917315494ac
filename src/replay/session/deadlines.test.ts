import { expect, test } from 'vitest'
import { Deadlines } from './deadlines.ts'

test('each is over at its own time, the shortest first, whatever the order they came in', async () => {
  const over: string[] = []
  await new Promise<void>((resolve) => {
    const watch = watched((name, after) => {
      over.push(`${name} after ${after}`)
      if (name === 'long') resolve()
    })
    watch.add('long', 60)
    watch.add('short', 5)
    watch.add('middle', 30)
  })
  expect(over).toEqual(['short after 5', 'middle after 30', 'long after 60'])
})

test('what ended in time is not over later, and what may take for ever never is', async () => {
  const over: string[] = []
  await new Promise<void>((resolve) => {
    const watch = watched((name) => {
      over.push(name)
      if (name === 'last') resolve()
    })
    watch.add('endless', Infinity)
    watch.add('in time', 5)
    watch.end('in time')
    watch.add('last', 20)
  })
  expect(over).toEqual(['last'])
})

test('one that is added when another is over is watched too', async () => {
  const over: string[] = []
  await new Promise<void>((resolve) => {
    const watch = watched((name) => {
      over.push(name)
      if (name === 'first') watch.add('second', 1)
      else resolve()
    })
    watch.add('first', 1)
  })
  expect(over).toEqual(['first', 'second'])
})

interface Watched {
  add(name: string, after: number): void
  end(name: string): void
}

function watched(onOver: (name: string, after: number) => void): Watched {
  const items = new Set<{ readonly name: string; readonly after: number; readonly due: number }>()
  const end = (wanted: string): void => {
    for (const item of items) if (item.name === wanted && items.delete(item)) deadlines.remove(item)
  }
  const deadlines = new Deadlines({
    items,
    now: () => performance.now(),
    onExpired: ({ name, after }) => {
      end(name)
      onOver(name, after)
    },
  })
  const add = (name: string, after: number): void => {
    const item = { name, after, due: performance.now() + after }
    items.add(item)
    deadlines.add(item)
  }
  return { add, end }
}
