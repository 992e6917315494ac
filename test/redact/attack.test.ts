import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { InMemoryTransport } from '@modelcontextprotocol/client'
import { expect, test, vi } from 'vitest'
import { recordForwardProxy } from '../../src/record/http/record-forward.ts'
import { recordTransport } from '../../src/record/in-process/record-transport.ts'
import { everythingIn } from '../support/everything-in.ts'
import { askThrough } from '../support/forward.ts'
import { ask, httpServer, post, startRecorder } from '../support/http.ts'
import { leaks, type Planted } from '../support/planted.ts'
import { linesOf, record, REELAY, start, temporaryFolder } from '../support/recorder.ts'

vi.setConfig({ testTimeout: 120_000 })

const base64 = (text: string): string => Buffer.from(text).toString('base64')
const KEY_LINES = ['Ab0/'.repeat(16), 'xY9+'.repeat(16), 'Qz7/'.repeat(8)]
const KEY = ['-----BEGIN RSA PRIVATE KEY-----', ...KEY_LINES, '-----END RSA PRIVATE KEY-----']

/** One of each class, told by its looks. */
const BY_LOOKS: Readonly<Record<string, string>> = {
  github: 'ghp_a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8',
  aws: 'AKIAQ3EGRJ7NUVTWXYZ2',
  openai: `sk-proj-${'aB3'.repeat(16)}`,
  slack: 'xoxb-123456789012-aB3cD4eF5gH6iJ7kL8mN9oP0',
  jwt: `${base64('{"alg":"HS256"}').replace(/=+$/, '')}.${base64('{"sub":"1234567890"}').replace(/=+$/, '')}.${'aB3_'.repeat(10)}xyz`,
  connection: 'postgres://bob:p4ssw0rd-of-bob@db.example/app',
}
const NAMED = 'hunter2-is-a-secret'
const PLANTED: readonly Planted[] = [
  ...Object.entries(BY_LOOKS).map(([kind, value]) => ({
    kind,
    value: kind === 'connection' ? 'p4ssw0rd-of-bob' : value,
  })),
  { kind: 'named', value: NAMED },
  ...KEY_LINES.map((value) => ({ kind: 'key', value })),
]

const unicode = (text: string): string =>
  text.replaceAll(/./g, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`)
const inLines = (text: string): string => base64(text).replaceAll(/.{60}/g, '$&\n')

const result = (value: unknown): string => JSON.stringify({ jsonrpc: '2.0', id: 1, result: value })
const tell = (method: string, params: object): string => JSON.stringify({ jsonrpc: '2.0', method, params })

/** What a hostile, or merely careless, server says: one message for each way to hide something. */
function sayings(): readonly string[] {
  const all = Object.values(BY_LOOKS)
  return [
    result({ structuredContent: { password: NAMED }, content: all.map((text) => ({ type: 'text', text })) }),
    result({ content: [{ type: 'text', text: `${all.join(' ')} ${NAMED}` }] }),
    result({ content: [{ type: 'text', text: JSON.stringify({ deep: JSON.stringify({ all, NAMED }) }) }] }),
    result({
      content: [{ type: 'text', text: `\`\`\`json\n${JSON.stringify({ all, NAMED }, null, 2)}\n\`\`\`` }],
    }),
    result({ contents: [{ uri: 'file:///a', blob: base64(`x ${all.join('\n')} ${NAMED}`) }] }),
    result({ contents: [{ uri: `file:///a?q=${encodeURIComponent(all.join(' '))}`, text: '' }] }),
    result({
      contents: [{ uri: 'file:///b', text: inLines(`some text before ${all.join('\n')} ${NAMED}`) }],
    }),
    result({ content: [], [BY_LOOKS['github'] ?? '']: { [NAMED]: [NAMED] } }),
    result({ content: [], _meta: { trace: { all, note: NAMED } } }),
    `{"jsonrpc":"2.0","id":1,"result":{"text":"${unicode(all.join(' '))} ${unicode(NAMED)}"}}`,
    result({ lines: KEY, one: KEY.join('\n'), two: KEY.join('\\n') }),
    result({ command: ['curl', '-u', `bob:${NAMED}`], env: [{ name: 'TOKEN_X', value: NAMED }] }),
    JSON.stringify({
      jsonrpc: '2.0',
      id: 1,
      error: { code: -1, message: all.join(), data: { all, why: NAMED } },
    }),
    tell('notifications/progress', { progressToken: 1, progress: 1, message: `${all.join()} ${NAMED}` }),
    tell('notifications/message', { level: 'info', logger: all[0], data: { all, NAMED } }),
    JSON.stringify([JSON.parse(result({ all })), JSON.parse(tell('x', { NAMED, all }))]),
    tell('x', { html: `<password>${NAMED}</password><a href="${all[5]}">`, xml: `<token>${all[0]}</token>` }),
  ]
}

/** Also what is cut by the ends of lines. */
function leaksIn(text: string): readonly string[] {
  return leaks(`${text} ${text.replaceAll(/\\+n/g, '')}`, PLANTED)
}

/** What Reelay says itself; the rest of stderr is the server's own. */
function ownWords(stderr: string): string {
  return stderr
    .split('\n')
    .filter((line) => line.startsWith('reelay'))
    .join('\n')
}

/** Says all of it on stdout and stderr, in pieces of so many bytes. */
const PIECES = `const size = Number(process.argv[1]), texts = JSON.parse(process.argv[2])
process.stdin.once('data', async () => {
  for (const [stream, text] of [[process.stdout, texts.join('\\n') + '\\n'], [process.stderr, texts.join('\\n')]]) {
    const bytes = Buffer.from(text)
    for (let at = 0; at < bytes.length; at += size) {
      stream.write(bytes.subarray(at, at + size))
      if (size < 1000 && at % (size * 16) === 0) await new Promise((later) => setImmediate(later))
    }
  }
  process.stdin.once('end', () => process.exit(0)).resume()
})`

test.each([7, 64, 1_000_000])('over pipes, in pieces of %i bytes', async (size) => {
  const home = temporaryFolder()
  // What is named once is known from then on; the server's own words are not on its command line.
  const env = { ...process.env, REELAY_HOME: home, SERVICE_PASSWORD: NAMED, NODE_TEXTS: '' }
  const run = record([process.execPath, '-e', PIECES, String(size), JSON.stringify(sayings())], {
    env,
    options: ['--note', NAMED, '--tag', `t=${BY_LOOKS['github']}`],
  })
  run.child.stdin.write('{"jsonrpc":"2.0","id":1,"method":"m"}\n')
  await run.line('<password>')
  run.child.stdin.end()
  await run.exited
  const written = everythingIn(home, join(run.tape, '..')) + ownWords(run.stderr())
  expect(leaksIn(written)).toEqual([])
  expect(linesOf(run.tape).filter(({ msg }) => msg !== undefined)).toHaveLength(sayings().length + 1)
})

test.each(['json', 'sse', 'gzip', 'gzip sse'])('over --url, as %s', async (form) => {
  const texts = sayings()
  const { origin } = await httpServer((req, res) => {
    const text = texts[Number(req.headers['x-number'])] ?? ''
    const isSse = form.includes('sse')
    const body = isSse ? `: ${BY_LOOKS['github']}\nid: ${BY_LOOKS['aws']}\ndata: ${text}\n\n` : text
    const headers = {
      'Content-Type': isSse ? 'text/event-stream' : 'application/json',
      'X-Trace': NAMED,
      'Set-Cookie': `a=${NAMED}`,
    }
    const bytes = form.startsWith('gzip') ? gzipSync(body) : Buffer.from(body)
    res.writeHead(200, form.startsWith('gzip') ? { ...headers, 'Content-Encoding': 'gzip' } : headers)
    for (let at = 0; at < bytes.length; at += 50) res.write(bytes.subarray(at, at + 50))
    res.end()
  })
  const proxy = await startRecorder(`${origin}/mcp?api_key=${NAMED}`, '--header', `X-Own-Token: ${NAMED}`)
  for (const [at] of texts.entries())
    await ask(
      proxy.url,
      post('{"jsonrpc":"2.0","id":1,"method":"m"}', {
        'X-Number': String(at),
        Authorization: `Bearer ${NAMED}`,
        'X-Any': BY_LOOKS['jwt'] ?? '',
      }),
    )
  proxy.child.kill('SIGTERM')
  await proxy.exited
  expect(leaksIn(everythingIn(join(proxy.tape, '..')))).toEqual([])
})

test('over --bridge, --forward and in a program', async () => {
  const texts = sayings()
  const { origin } = await httpServer((req, res) => {
    const text = texts[Number(new URL(req.url ?? '', 'http://x').searchParams.get('n') ?? 0)] ?? ''
    res.writeHead(200, { 'Content-Type': 'application/json' })
    res.end(text)
  })
  const folder = temporaryFolder()
  const bridge = start([
    process.execPath,
    REELAY,
    'record',
    '-o',
    join(folder, 'b.tape.jsonl'),
    '--bridge',
    '--url',
    `${origin}/mcp`,
  ])
  bridge.child.stdin.write(`{"jsonrpc":"2.0","id":1,"method":"m","params":{"password":"${NAMED}"}}\n`)
  await bridge.line('"id":1')
  bridge.child.stdin.end()
  await bridge.exited
  const forward = await recordForwardProxy({
    listen: { host: '127.0.0.1', port: 0 },
    tape: join(folder, 'f.tape.jsonl'),
    server: undefined,
    maxMessageBytes: 1024 * 1024,
    onNotice: () => {},
  })
  for (const [n] of texts.entries())
    await askThrough(
      forward.proxy,
      `${origin}/mcp?n=${n}&token=${NAMED}`,
      post('{"jsonrpc":"2.0","id":1,"method":"m"}'),
    )
  await forward.close()
  const [client, server] = InMemoryTransport.createLinkedPair()
  const transport = recordTransport(client, { tape: join(folder, 'm.tape.jsonl'), server: 's' })
  await transport.start()
  for (const text of texts) await transport.send(JSON.parse(text))
  await transport.close()
  await server.close()
  expect(leaksIn(everythingIn(folder) + ownWords(bridge.stderr()))).toEqual([])
})

test('a plain tape of all this can be shared, and a copy holds nothing of it', async () => {
  const folder = temporaryFolder()
  const env = { ...process.env, REELAY_HOME: folder, SERVICE_PASSWORD: NAMED }
  const run = record([process.execPath, '-e', PIECES, '64', JSON.stringify(sayings())], {
    env,
    options: ['--no-redact', '-q', '--note', NAMED],
  })
  run.child.stdin.write('{"jsonrpc":"2.0","id":1,"method":"m"}\n')
  await run.line('<password>')
  run.child.stdin.end()
  await run.exited
  expect(leaksIn(readFileSync(run.tape, 'utf8'))).not.toEqual([])
  for (const verb of ['share', 'redact']) {
    const copy = join(folder, `${verb}.tape.jsonl`)
    const copied = start([process.execPath, REELAY, verb, run.tape, '-o', copy], { env })
    expect([(await copied.exited).code, copied.stderr()]).toEqual([0, ''])
    expect(leaksIn(readFileSync(copy, 'utf8') + copied.stdout() + copied.stderr())).toEqual([])
  }
})

test('what a live server says behind a served tape goes to the tape without it', async () => {
  const folder = temporaryFolder()
  const env = { ...process.env, REELAY_HOME: folder, CI: '' }
  const tape = join(folder, 'live.tape.jsonl')
  const live = ['--', process.execPath, '-e', PIECES, '64', JSON.stringify(sayings())]
  const first = start([process.execPath, REELAY, 'serve', tape, '--mode', 'once', ...live], { env })
  first.child.stdin.write(`{"jsonrpc":"2.0","id":1,"method":"m","params":{"password":"${NAMED}"}}\n`)
  await first.line('<password>')
  first.child.stdin.end()
  await first.exited
  const next = start([process.execPath, REELAY, 'serve', tape, '--mode', 'new-episodes', ...live], { env })
  next.child.stdin.write(`{"jsonrpc":"2.0","id":1,"method":"other","params":{"password":"${NAMED}"}}\n`)
  await next.line('"id":1')
  next.child.stdin.end()
  await next.exited
  expect(readFileSync(tape, 'utf8')).toContain('"event":"episode"')
  const said = [first, next].map((run) => ownWords(run.stderr())).join('')
  expect(leaksIn(everythingIn(folder) + said)).toEqual([])
})
