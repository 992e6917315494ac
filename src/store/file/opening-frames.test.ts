import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { newestSessionRevision, newestStatelessRevision } from '../../protocol/revisions/index.ts'
import { openingFrames } from './opening-frames.ts'

test('the handshake of every kind of revision is among the opening frames', () => {
  const revisions = [newestSessionRevision(), newestStatelessRevision()]
  const methods = revisions.flatMap(({ openingMethod, openedNotification }) => [
    openingMethod,
    ...(openedNotification === undefined ? [] : [openedNotification]),
  ])
  const frames = [...methods, 'tools/list'].map(
    (method, index) =>
      `{"n":${index + 1},"t":${index},"dir":"c2s","msg":{"jsonrpc":"2.0","method":"${method}"}}`,
  )
  const path = join(mkdtempSync(join(tmpdir(), 'reelay-')), 'opening.tape.jsonl')
  writeFileSync(path, ['{}', ...frames, ''].join('\n'))
  expect(openingFrames(path, 2).frames).toEqual(
    methods.map((method) => `,"dir":"c2s","msg":{"jsonrpc":"2.0","method":"${method}"}`),
  )
})

test('a handshake that was held is copied as both sides saw it, and its frames refer to the copies', () => {
  const frames = [
    `,"event":"start"`,
    `,"dir":"c2s","side":"client","msg":{"jsonrpc":"2.0","id":0,"method":"initialize"}`,
    `,"event":"intercept","action":"edit","of":2`,
    `,"dir":"c2s","side":"server","of":2,"modified":true,"original_payload":{},"msg":{"jsonrpc":"2.0","id":0,"method":"initialize"}`,
    `,"dir":"s2c","side":"server","msg":{"jsonrpc":"2.0","id":0,"result":{}}`,
    `,"dir":"s2c","side":"client","of":5,"msg":{"jsonrpc":"2.0","id":0,"result":{}}`,
    `,"dir":"c2s","msg":{"jsonrpc":"2.0","id":1,"method":"tools/list"}`,
  ]
  const lines = frames.map((rest, index) => `{"n":${index + 1},"t":${index}${rest}}`)
  const path = join(mkdtempSync(join(tmpdir(), 'reelay-')), 'held.tape.jsonl')
  writeFileSync(path, ['{}', ...lines, ''].join('\n'))
  const { frames: copied, requests } = openingFrames(path, 2)
  expect(requests).toBe(1)
  expect(copied.map((rest) => /"dir":"...","side":"\w+"(,"of":\d+)?/.exec(rest)?.[0])).toEqual([
    '"dir":"c2s","side":"client"',
    undefined, // the event that says who changed it
    '"dir":"c2s","side":"server","of":2',
    '"dir":"s2c","side":"server"',
    '"dir":"s2c","side":"client","of":5',
  ])
})
