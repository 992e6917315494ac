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
  expect(openingFrames(path)).toEqual(
    methods.map((method) => `,"dir":"c2s","msg":{"jsonrpc":"2.0","method":"${method}"}`),
  )
})
