import { expect, test } from 'vitest'
import { Deadlines } from './deadlines.ts'

test('each item expires at its own time, the earliest first, in whatever order they were added', async () => {
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

test('an item that was removed in time does not expire, and neither does one without a deadline', async () => {
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

test('an item that is added while another expires is watched too', async () => {
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
