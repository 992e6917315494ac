import { expect, test } from 'vitest'
import { ReplayNotes } from './notes.ts'

test('what is noted again is told once, with how often', () => {
  const notes = new ReplayNotes()
  notes.push('one', 'two')
  notes.push('one')
  expect([...notes]).toEqual(['one (2 times)', 'two'])
})

test('of notes without end the first fifty are told, and how many more there were', () => {
  const notes = new ReplayNotes()
  for (let count = 1; count <= 70; count++) notes.push(`note ${count}`)
  notes.push('note 1')
  const told = [...notes]
  expect([told.length, told[0], told.at(-1)]).toEqual([51, 'note 1 (2 times)', 'and 20 more notes'])
})
