import { expect, test } from 'vitest'
import { ReplayNotes } from './notes.ts'

test('a repeated note is reported once, with its count', () => {
  const notes = new ReplayNotes()
  notes.push('one', 'two')
  notes.push('one')
  expect([...notes]).toEqual(['one (2 times)', 'two'])
})

test('the first fifty notes are reported, and the number of the others', () => {
  const notes = new ReplayNotes()
  for (let count = 1; count <= 70; count++) notes.push(`note ${count}`)
  notes.push('note 1')
  const told = [...notes]
  expect([told.length, told[0], told.at(-1)]).toEqual([51, 'note 1 (2 times)', 'and 20 more notes'])
})
