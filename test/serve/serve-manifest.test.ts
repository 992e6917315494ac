import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { expect, test } from 'vitest'
import { parse } from 'yaml'
import { readServeSection } from '../../src/cli/serve/serve.ts'
import { readProjectConfig } from '../../src/config/project-config.ts'
import { folderWith } from '../support/config-folder.ts'
import { REELAY, start, until } from '../support/recorder.ts'
import { begin, jsonOf } from './serving.ts'
import { tapeFile } from './tape-file.ts'
import { answerOf, call, callOf, HANDSHAKE } from '../support/tape-of.ts'

const fitsSchema = new Ajv2020({ strict: true, allowUnionTypes: true }).compile(
  Object(JSON.parse(readFileSync('schema/config-1.json', 'utf8'))),
)

test('the tapes of the project are served without a word more, each at its own address', async () => {
  const [one, two] = ['one', 'two'].map((word) => tapeFile(...HANDSHAKE, ...call(1, 'count', {}, word)))
  const config = { serve: { tapes: [{ tape: one, http: 0 }, two] } }
  const cwd = folderWith('reelay.config.json', JSON.stringify(config))
  const run = start([process.execPath, REELAY, 'serve'], { cwd })
  const urls = (): string[] => [...run.stderr().matchAll(/listening on (\S+)\n/g)].map(([, url = '']) => url)
  await until(() => urls().length === 2 || run.child.exitCode !== null)
  for (const [at, word] of ['one', 'two'].entries()) {
    const client = await begin(urls()[at] ?? '')
    expect(jsonOf(await client.say(callOf(1, 'count', {})))).toMatchObject(answerOf(1, word))
  }
  run.child.kill('SIGTERM')
  expect(await run.exited).toMatchObject({ code: 0 })
  expect(run.stderr()).toContain('4 requests answered, 0 misses, 0 left over')
})

test('the example of the page is read, and fits the schema', () => {
  const page = readFileSync('docs/reference/config.md', 'utf8')
  const [, example = ''] = /```yaml\n(serve:\n.*?)```/s.exec(page) ?? []
  expect([fitsSchema(parse(example)), fitsSchema.errors]).toEqual([true, null])
  const { wanted, folder } = read(example)
  expect(wanted).toEqual([
    { name: 'github', http: { host: '127.0.0.1', port: 8080 } },
    {
      name: join(folder, 'tapes', 'files.tape.jsonl'),
      server: 'files',
      http: { host: '127.0.0.1', port: 8081 },
      sse: {},
    },
    { name: 'notes', http: {} },
  ])
})

test.each([
  ['serve: {}', 'line 1, column 8: "serve" lists no "tapes"'],
  ['serve:\n  tapes: github', 'line 2, column 10: "serve.tapes" is not a list'],
  ['serve:\n  tapes:\n    - http: 1', 'line 3, column 7: "serve.tapes[0]" needs "tape"'],
  [
    'serve:\n  tapes:\n    - tape: a\n      port: 1',
    'line 4, column 7: "serve.tapes[0].port" is unknown; expected one of tape, server, http, sse',
  ],
  [
    'serve:\n  tapes:\n    - tape: a\n      http: 99999',
    'line 4, column 13: "serve.tapes[0].http" is not an address (expected host:port',
  ],
])('%j is refused with its place', (text, why) => {
  expect(() => read(text)).toThrow(why)
})

test('an address on the command line is for a tape on the command line', async () => {
  const cwd = folderWith('reelay.config.yaml', 'serve: { tapes: [a] }')
  const run = start([process.execPath, REELAY, 'serve', '--http'], { cwd })
  expect(await run.exited).toMatchObject({ code: 2 })
  expect(run.stderr()).toContain('USAGE --http needs a tape on the command line')
})

function read(text: string): { wanted: ReturnType<typeof readServeSection>; folder: string } {
  const { file, section } = readProjectConfig(
    join(folderWith('reelay.config.yaml', text), 'reelay.config.yaml'),
  )
  const found = section('serve')
  if (found === undefined) throw new Error('the section is not there')
  return { wanted: readServeSection(found, dirname(file)), folder: dirname(file) }
}
