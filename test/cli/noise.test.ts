import { readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, test, vi } from 'vitest'
import { reelay } from '../replay/reelay.ts'
import { REELAY, start } from '../support/recorder.ts'
import { tapeFile } from '../serve/tape-file.ts'
import { client, HANDSHAKE, server, type Said } from '../support/tape-of.ts'

vi.setConfig({ testTimeout: 120_000 })

/** A server with a random id and a price, which tools may only read. */
function serverIn(folder: string, price: string): readonly string[] {
  const path = join(folder, 'server.cjs')
  writeFileSync(
    path,
    `const { randomUUID } = require('node:crypto')
    const info = { protocolVersion: '2025-11-25', capabilities: { tools: {}, resources: {}, prompts: {} }, serverInfo: { name: 'recorded-server', version: '1' } }
    const annotations = { readOnlyHint: true }
    require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => {
      const { id, method } = JSON.parse(line)
      if (id === undefined) return
      const result = method === 'initialize' ? info
        : method === 'tools/list' ? { tools: [{ name: 'get', inputSchema: { type: 'object' }, annotations }] }
        : { content: [], structuredContent: { id: randomUUID(), price: ${price} } }
      console.log(JSON.stringify({ jsonrpc: '2.0', id, result }))
    })`,
  )
  return ['--', process.execPath, path]
}

const CALL: readonly Said[] = [
  client({ id: 1, method: 'tools/call', params: { name: 'get', arguments: { key: 'a' } } }),
  server({
    id: 1,
    result: { content: [], structuredContent: { id: '8f14e45f-ceea-4d1b-9a2c-3c59dc048e88', price: 10 } },
  }),
]

test('learn writes a profile that verify uses; show, accept and forget change it', async () => {
  const tape = tapeFile(...HANDSHAKE, ...CALL)
  const profile = tape.replace('.tape.jsonl', '.noise.yaml')
  const same = serverIn(dirname(tape), '10')
  const first = await reelay('verify', tape, ...same)
  expect([first.code, first.err]).toEqual([
    0,
    `reelay verify: noise was learned from the server under test; to learn it from a known-good server: reelay learn ${tape} ${same.join(' ')}\n`,
  ])

  const learned = await reelay('learn', tape, '--runs', '4', ...same)
  expect(learned.out).toBe(
    `#2 tools/call get {"key":"a"}\n  result.structuredContent.id                   uuid   (4 values in 4 runs)\n1 place varies in 1 of 2 exchanges; 4 runs\nwritten to ${profile}; reelay verify uses it\n`,
  )
  expect([learned.code, learned.err]).toEqual([0, ''])
  const shown = await reelay('noise', 'show', tape, '--json')
  expect(JSON.parse(shown.out)).toMatchObject({
    file: profile,
    stale: null,
    profile: { runs: 4, exchanges: [{ exchange: 2, noise: [{ class: { is: 'uuid', versions: ['4'] } }] }] },
  })

  const passed = await reelay('verify', tape, ...same)
  expect([passed.code, passed.err]).toEqual([
    0,
    `reelay verify: using the noise profile ${profile} (4 runs, ${new Date().toISOString().slice(0, 10)})\n`,
  ])
  expect(passed.out).not.toContain('run 2')

  const report = join(dirname(tape), 'report.json')
  const random = serverIn(dirname(tape), 'Math.random()')
  const unstable = await reelay('verify', tape, '-o', report, ...random)
  expect([unstable.code, unstable.out.match(/newly unstable/g)?.length]).toEqual([1, 1])
  expect((await reelay('verify', tape, '--no-noise-profile', ...random)).code).toBe(0)

  const accepted = await reelay('noise', 'accept', tape, '--report', report, '--note', 'prices vary')
  expect([accepted.code, accepted.out]).toEqual([
    0,
    'accepted: #2 tools/call get result.structuredContent.price: anything\n',
  ])
  expect((await reelay('verify', tape, ...random)).code).toBe(0)
  await reelay('learn', tape, '--runs', '2', ...same)
  expect(readFileSync(profile, 'utf8')).toContain(
    'class: { is: any }\n        by: hand\n        note: prices vary\n',
  )

  const forgotten = await reelay('noise', 'forget', tape, '#2', 'result.structuredContent.price')
  expect(forgotten.out).toBe('removed: #2 tools/call get result.structuredContent.price\n')

  writeFileSync(profile, readFileSync(profile, 'utf8').replace(/^tape: .*$/m, 'tape: another'))
  const stale = await reelay('verify', tape, ...same)
  expect([stale.code, stale.err.split('\n')[0]]).toEqual([
    0,
    `reelay verify: the noise profile ${profile} is not used, because the tape was recorded again; renew it: reelay learn ${tape} ${same.join(' ')}`,
  ])
})

test('learn obeys the safety rules of verify, and says that nothing was learned', async () => {
  const tape = tapeFile(...CALL.map((said) => ({ ...said, text: said.text.replace('"get"', '"delete"') })))
  const { code, err } = await reelay('learn', tape, '--runs', '1', ...serverIn(dirname(tape), '10'))
  expect([code, err]).toEqual([
    3,
    'reelay learn: nothing was sent, so nothing was learned: held: the server does not list the tool, so it may write\n' +
      '  hint: 1 call was not sent, because it may write. To send it: --allow delete or --allow-writes\n',
  ])
})

test('record --learn writes a profile after the session', async () => {
  const tape = tapeFile(...HANDSHAKE, ...CALL).replace('.tape', '-again.tape')
  const command = ['record', '--learn', '2', '-o', tape, ...serverIn(dirname(tape), '10')]
  const run = start([process.execPath, REELAY, ...command])
  const list = client({ id: 7, method: 'tools/list' })
  for (const { dir, text } of [...HANDSHAKE, list, ...CALL])
    if (dir === 'c2s') run.child.stdin.write(`${text}\n`)
  run.child.stdin.end()
  expect((await run.exited).code).toBe(0)
  expect(run.stderr()).toContain('uuid   (2 values in 2 runs)\n')
  expect(run.stdout().toString()).not.toContain('2 runs')
  expect(readFileSync(tape.replace('.tape.jsonl', '.noise.yaml'), 'utf8')).toContain('is: uuid')
})

test('a random boolean needs a profile, and verify says how to make one', async () => {
  const tape = tapeFile(...HANDSHAKE, ...CALL.map(withBoolean))
  const runs = JSON.stringify(join(dirname(tape), 'runs'))
  const fs = "require('node:fs')"
  const random = serverIn(
    dirname(tape),
    `(${fs}.appendFileSync(${runs}, '.'), ${fs}.statSync(${runs}).size % 2 === 0)`,
  )
  const command = `reelay learn ${tape} `
  const without = await reelay('verify', tape, ...random)
  expect([without.code, without.out]).toEqual([1, expect.stringContaining('verdict: flaky')])
  expect(without.err).toContain(
    `reelay verify: #2 result.structuredContent.price may be random, but has only two values: if the known-good server varies there too, make a noise profile: ${command}`,
  )
  await reelay('learn', tape, '--runs', '4', ...random)
  const withProfile = await reelay('verify', tape, ...random)
  expect([withProfile.code, withProfile.err]).toEqual([0, expect.not.stringContaining('may be random')])
})

function withBoolean(said: Said): Said {
  return { ...said, text: said.text.replace('"price":10', '"price":true') }
}
