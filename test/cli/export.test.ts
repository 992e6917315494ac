import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { expect, onTestFinished, test } from 'vitest'
import { importTape } from '../../src/convert/import-tape.ts'
import { loadTape } from '../../src/store/file/read.ts'
import { REELAY, start, temporaryFolder } from '../support/recorder.ts'

const NOTES = resolve('test/fixtures/foreign/notes.jsonl')

test('export writes a file by the end of its name, and lists what is lost on stderr', async () => {
  const { folder, reelay } = await withTape()
  expect(await reelay('export', 'notes', '-o', 'notes.har')).toMatchObject({
    code: 0,
    out: '',
    err: 'wrote notes.har\n',
  })
  const { log } = JSON.parse(readFileSync(join(folder, 'notes.har'), 'utf8')) as {
    log: { entries: unknown[] }
  }
  expect(log.entries).toHaveLength(7)
  const { out, err } = await reelay('export', 'notes', '--format', 'mcporter')
  expect(out.split('\n')).toHaveLength(18)
  expect(err).toBe('lost: 1 tag, times below a millisecond\n')
  expect(await reelay('export', 'notes', '-o', 'notes.har')).toMatchObject({ code: 2 })
  expect(await reelay('export', 'notes')).toMatchObject({
    code: 2,
    err: expect.stringContaining('the format is missing') as string,
  })
})

test('secrets on a tape get placeholders in an export, unless the user wants them', async () => {
  const { folder, reelay } = await withTape()
  const secret = ['ghp', 'aB3dE6gH9jK2mN5pQ8sT1vW4yZ7cF0xLrUoI'].join('_')
  const plain = readFileSync(join(folder, 'notes.tape.jsonl'), 'utf8').replace(/"redaction":\{[^}]*\},/, '')
  writeFileSync(join(folder, 'secret.tape.jsonl'), plain.replace('summary: short', secret))
  expect((await reelay('export', './secret.tape.jsonl', '--format', 'vitest')).out).not.toContain(secret)
  expect((await reelay('export', './secret.tape.jsonl', '--format', 'vitest', '--no-redact')).out).toContain(
    secret,
  )
})

test('convert goes from one format to another, and to a tape', async () => {
  const { folder, reelay } = await withTape()
  expect(await reelay('convert', NOTES, 'notes.vcr')).toMatchObject({ code: 0 })
  expect(await reelay('convert', 'notes.vcr', 'back.tape.jsonl')).toMatchObject({ code: 0 })
  expect(
    (await loadTape(join(folder, 'back.tape.jsonl'))).turns.filter(({ response }) => response),
  ).toHaveLength(6)
  expect(await reelay('convert', 'notes.vcr', 'notes.unknown')).toMatchObject({ code: 2 })
})

test('convert packs a tape with gzip and unpacks it again, byte for byte, and refuses what is not packed', async () => {
  const { folder, reelay } = await withTape()
  const file = (name: string): string => join(folder, name)
  expect(await reelay('convert', 'notes', 'packed.tape.jsonl.gz')).toMatchObject({ code: 0 })
  expect(await reelay('convert', 'packed.tape.jsonl.gz', 'again.tape.jsonl')).toMatchObject({ code: 0 })
  expect(readFileSync(file('again.tape.jsonl'), 'utf8')).toBe(readFileSync(file('notes.tape.jsonl'), 'utf8'))
  expect(readFileSync(file('packed.tape.jsonl.gz')).length).toBeLessThan(
    readFileSync(file('notes.tape.jsonl')).length / 2,
  )
  expect(await reelay('convert', 'packed.tape.jsonl.gz', 'notes.har.gz')).toMatchObject({ code: 0 })
  expect(await reelay('convert', 'notes.har.gz', 'back.tape.jsonl')).toMatchObject({ code: 0 })
  expect((await loadTape(file('back.tape.jsonl'))).turns.length).toBeGreaterThan(5)
  writeFileSync(file('plain.gz'), '{}')
  expect(await reelay('convert', 'plain.gz', 'x.tape.jsonl')).toMatchObject({
    code: 3,
    err: expect.stringContaining('cannot be unpacked') as string,
  })
})

test('edit opens the tape in the editor, and marks what was edited on a new tape', async () => {
  const { folder, reelay } = await withTape()
  const editor = join(folder, 'editor.sh')
  writeFileSync(editor, `sed -i 's/no such note/gone/' "$1"\n`)
  const edited = await reelay('edit', 'notes.tape.jsonl', '-o', './edited.tape.jsonl', {
    EDITOR: `sh ${editor}`,
  })
  expect(edited).toMatchObject({ code: 0, err: 'note: 1 messages were edited: frames 16\n' })
  const tape = await loadTape(join(folder, 'edited.tape.jsonl'))
  expect(tape.header.tags['edited']).toBe('frames 16')
  expect(tape.turns.at(-1)?.response?.text).toContain('gone')
  const untouched = await reelay('edit', 'notes.tape.jsonl', '-o', './same.tape.jsonl', { EDITOR: 'true' })
  expect([untouched.out, existsSync(join(folder, 'same.tape.jsonl'))]).toEqual([
    'nothing was changed, so no tape was written\n',
    false,
  ])
  expect(
    await reelay('edit', 'notes.tape.jsonl', '-o', './no.tape.jsonl', { EDITOR: 'false' }),
  ).toMatchObject({ code: 3 })
})

test('spans are sent to a collector', async () => {
  const { reelay } = await withTape()
  const bodies: string[] = []
  const collector = createServer((request, response) => {
    void (async () => {
      let body = `${request.method} ${request.url} `
      for await (const chunk of request) body += String(chunk)
      bodies.push(body)
      response.end('{}')
    })()
  }).listen(0, '127.0.0.1')
  await once(collector, 'listening')
  onTestFinished(() => void collector.close())
  const { port } = collector.address() as AddressInfo
  expect(await reelay('export', 'notes', '--otlp', `http://127.0.0.1:${port}`)).toMatchObject({ code: 0 })
  expect(bodies[0]).toMatch(/^POST \/v1\/traces \{"resourceSpans":\[/)
  collector.close()
  expect(await reelay('export', 'notes', '--otlp', 'http://127.0.0.1:1')).toMatchObject({
    code: 3,
    err: expect.stringContaining('EXPORT_FAILED') as string,
  })
})

interface Result {
  readonly code: number | null
  readonly out: string
  readonly err: string
}

/** A folder with a tape, which is the folder of tapes too. */
async function withTape(): Promise<{
  folder: string
  reelay: (...args: readonly (string | NodeJS.ProcessEnv)[]) => Promise<Result>
}> {
  const folder = temporaryFolder()
  const env = { ...process.env, REELAY_HOME: folder }
  await importTape(readFileSync(NOTES), { tape: join(folder, 'tapes', 'notes.tape.jsonl') })
  writeFileSync(join(folder, 'notes.tape.jsonl'), readFileSync(join(folder, 'tapes', 'notes.tape.jsonl')))
  const reelay = async (...args: readonly (string | NodeJS.ProcessEnv)[]): Promise<Result> => {
    const words = args.filter((arg) => typeof arg === 'string')
    const extra = args.find((arg) => typeof arg !== 'string')
    const run = start([process.execPath, REELAY, ...words], {
      cwd: folder,
      env: { ...env, ...extra, VISUAL: undefined },
    })
    const { code } = await run.exited
    return { code, out: run.stdout().toString(), err: run.stderr() }
  }
  return { folder, reelay }
}

test('a trusted config in JavaScript adds a format, which import, export and convert know', async () => {
  const { folder, reelay } = await withTape()
  const library = pathToFileURL(resolve('dist/lib/index.js')).href
  writeFileSync(
    join(folder, 'reelay.config.mjs'),
    `import { registerFormat } from ${JSON.stringify(library)}
registerFormat({
  name: 'mine',
  extension: '.mine',
  write: ({ turns }, losses) => {
    losses.count('colours', 2)
    return turns.map(({ trigger }) => JSON.stringify({ mine: trigger.text })).join('\\n')
  },
  reject: ({ firstRows }) => (firstRows.some(({ object }) => 'mine' in object) ? undefined : 'no "mine"'),
  read: ({ lines }) => ({ frames: lines.rows.map((row) => ({ kind: 'message', dir: 'c2s', text: row.object.mine })) }),
})
export default {}
`,
  )
  expect(await reelay('export', 'notes', '--format', 'mine', '-o', 'notes.mine')).toMatchObject({
    code: 3,
    err: expect.stringContaining('CONFIG_NOT_TRUSTED') as string,
  })
  expect(await reelay('trust', 'reelay.config.mjs')).toMatchObject({ code: 0 })
  expect(await reelay('export', 'notes', '--format', 'mine', '-o', 'notes.mine')).toMatchObject({
    code: 0,
    err: expect.stringContaining('lost: 2 colours') as string,
  })
  expect(await reelay('import', 'notes.mine', '--format', 'mine', '-o', './mine.tape.jsonl')).toMatchObject({
    code: 0,
  })
  expect((await loadTape(join(folder, 'mine.tape.jsonl'))).turns).toHaveLength(7)
})
