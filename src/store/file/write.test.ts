import { mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import fc from 'fast-check'
import { expect, onTestFinished, test } from 'vitest'
import { createTape, DigitCounter, writeMilliseconds } from './write.ts'

function folder(...files: string[]): string {
  const path = mkdtempSync(join(tmpdir(), 'reelay-test-'))
  onTestFinished(() => rmSync(path, { recursive: true, force: true }))
  for (const file of files) writeFileSync(join(path, file), '')
  return path
}

function createdIn(path: string, name: string): string {
  const writer = createTape(join(path, name))
  writer.close()
  return basename(writer.path)
}

test('a tape whose name is in use gets the next free number', () => {
  const taken = [
    'a.tape.jsonl',
    'a-2.tape.jsonl',
    'a-41.tape.jsonl',
    'a-x.tape.jsonl',
    'a-99.txt',
    'ab-77.tape.jsonl',
  ]
  const path = folder(...taken)
  expect([createdIn(path, 'a.tape.jsonl'), createdIn(path, 'a.tape.jsonl')]).toEqual([
    'a-42.tape.jsonl',
    'a-43.tape.jsonl',
  ])
  expect(readdirSync(path)).toHaveLength(taken.length + 2)
})

test('a name without an extension is numbered too, and an unused name is kept', () => {
  const path = folder('b', 'c-5.jsonl')
  expect([createdIn(path, 'b'), createdIn(path, 'c.jsonl')]).toEqual(['b-2', 'c.jsonl'])
})

test('missing folders are created', () => {
  const path = folder()
  expect(createdIn(join(path, 'a', 'b'), 'c.jsonl')).toBe('c.jsonl')
})

test.skipIf(process.platform === 'win32')('only their owner can enter folders that are made', () => {
  const path = folder()
  createdIn(join(path, 'a', 'b'), 'c.jsonl')
  expect(['a', 'a/b'].map((name) => statSync(join(path, name)).mode & 0o777)).toEqual([0o700, 0o700])
})

test.runIf(process.platform === 'linux')(
  'a folder that cannot be created is an error, without retrying forever',
  () => {
    expect(() => createTape('/proc/no-such-folder/a.tape.jsonl')).toThrow(/ENOENT|EACCES|EPERM/)
  },
)

test('the digits are those of the number, also after a carry', () => {
  const counter = new DigitCounter()
  const wrong: number[] = []
  for (let value = 0; value < 100_100; value++) {
    if (Buffer.from(counter.digits).toString('latin1') !== String(value)) wrong.push(value)
    counter.next()
  }
  expect(wrong).toEqual([])
  expect(counter.value).toBe(100_100)
})

test('a time is written with three decimals, however long the session is', () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 4e12 }), (micros) => {
      const target = Buffer.alloc(40)
      const end = writeMilliseconds(target, 3, micros / 1000)
      expect(target.toString('latin1', 3, end)).toBe((micros / 1000).toFixed(3))
    }),
  )
})
