import { expect, test } from 'vitest'
import type { Stop } from '../../replay/control/stops.ts'
import { createReportRedactor } from '../../serve/redaction/report-redactor.ts'
import { promptAtStop, redactStop } from './interactive.ts'

const CALL = {
  index: 3,
  frame: 17,
  exchange: 9,
  method: 'tools/call',
  tool: 'get_order',
  text: '{"id":3,"params":{"a":"b"}}',
}

/** What was decided after these answers, and what was shown before each. */
async function decided(
  answers: readonly (string | undefined)[],
  call: object = {},
): Promise<[string, readonly string[]]> {
  const made: string[] = []
  const asked: string[] = []
  const way = (name: string) => () => void made.push(name)
  const stop: Stop = {
    ...CALL,
    ...call,
    next: way('next'),
    skip: way('skip'),
    goOn: way('goOn'),
    quit: way('quit'),
  }
  const rest = [...answers]
  await promptAtStop(stop, async (question) => {
    asked.push(question)
    return rest.shift()
  })
  return [made.join(), asked]
}

test.each<[string, string | undefined, string]>([
  ['Enter', '', 'next'],
  ['n', 'n', 'next'],
  ['next', ' NEXT ', 'next'],
  ['s', 's', 'skip'],
  ['skip', 'skip', 'skip'],
  ['c', 'c', 'goOn'],
  ['continue', 'continue', 'goOn'],
  ['q', 'q', 'quit'],
  ['the end of the input', undefined, 'quit'],
])('at a stop, %s is understood', async (_, answer, way) => {
  expect((await decided([answer]))[0]).toBe(way)
})

test('a stop shows the message on a line, then whole to who asks, and asks again after a word that means nothing', async () => {
  const [way, asked] = await decided(['what', 'show', 'n'])
  expect(way).toBe('next')
  expect(asked).toEqual([
    'next: #9 tools/call get_order\n  {"id":3,"params":{"a":"b"}}\n  [N]ext, skip, continue, quit, show: ',
    'next: #9 tools/call get_order\n  {"id":3,"params":{"a":"b"}}\n  [N]ext, skip, continue, quit, show: ',
    'next: #9 tools/call get_order\n{\n  "id": 3,\n  "params": {\n    "a": "b"\n  }\n}\n  [N]ext, skip, continue, quit, show: ',
  ])
})

test('a secret of a tape that was never redacted is not shown at a stop', () => {
  const ways = { next: noWay, skip: noWay, goOn: noWay, quit: noWay }
  const text = '{"params":{"password":"hunter2-and-more"}}'
  expect(redactStop({ ...CALL, ...ways, text }, createReportRedactor()).text).not.toContain('hunter2')
})

test('what cannot be sent says so', async () => {
  const [, [asked]] = await decided(['s'], { text: undefined })
  expect(asked).toContain('it cannot be sent: a value that the live server creates is not known')
})

test('bytes that would move the cursor of the terminal are shown, not sent to it', async () => {
  const [, asked] = await decided(['show', 'n'], { method: 'a\u001B[2J', text: '{"a":"\u001B[2J"}' })
  expect(asked.join('')).not.toContain('\u001B')
})

function noWay(): void {}
