import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { ask, httpServer, post, recordUrl, startRecorder, type Answer } from '../support/http.ts'
import { REELAY, start, until } from '../support/recorder.ts'

const PING = { jsonrpc: '2.0', id: 1, method: 'ping' }
const TOKEN = 'tok-7f3a91'

test('the proxy adds the token to every request in place of the client’s own, and it is shown nowhere', async () => {
  const seen: (readonly (string | undefined)[])[] = []
  const { origin } = await httpServer((req, res) => {
    seen.push([req.method, req.url, req.headers.authorization, String(req.headers['x-own'])])
    res.end()
  })
  process.env['TEST_TOKEN'] = TOKEN
  const own = ['--header', 'Authorization: Bearer ${env.TEST_TOKEN}', '--header', 'X-Own: ${env.TEST_TOKEN}']
  const run = await startRecorder(`${origin}/mcp`, ...own)
  delete process.env['TEST_TOKEN']
  await ask(run.url, post(PING))
  await ask(run.url, { method: 'GET', headers: { authorization: 'Bearer of-the-client' } })
  await ask(run.url, { method: 'DELETE' })
  run.child.kill('SIGTERM')
  await run.exited
  expect(seen).toEqual(['POST', 'GET', 'DELETE'].map((method) => [method, '/mcp', `Bearer ${TOKEN}`, TOKEN]))
  expect(readFileSync(run.tape, 'utf8')).not.toContain(TOKEN)
  expect(run.stderr() + String(run.stdout())).not.toContain(TOKEN)
  expect(run.child.spawnargs.join(' ')).not.toContain(TOKEN)
})

test('a token that the server repeats in its response is not on the tape', async () => {
  const { origin } = await httpServer((req, res) => {
    const { authorization = '', 'x-api-key': key = '' } = req.headers
    const basicOnly = authorization.slice(6)
    const text = [basicOnly, Buffer.from(basicOnly, 'base64').toString(), String(key)].join(' ')
    res.setHeader('Content-Type', 'application/json')
    res.end(JSON.stringify({ jsonrpc: '2.0', id: 1, result: { text } }))
  })
  const basic = Buffer.from('bob:pass-word-7').toString('base64')
  const own = ['--header', `Authorization: Basic ${basic}`, '--header', 'X-Api-Key: key-5566778899']
  const run = await startRecorder(`${origin}/mcp`, ...own)
  expect((await ask(run.url, post(PING))).body.toString()).toContain('pass-word-7 key-5566778899')
  run.child.kill('SIGTERM')
  await run.exited
  expect(readFileSync(run.tape, 'utf8')).not.toMatch(/pass-word-7|key-5566778899/)
  expect(readFileSync(run.tape, 'utf8')).not.toContain(basic)
})

test('a redirect is passed to the client: the token is sent to no other server', async () => {
  const others: unknown[] = []
  const other = await httpServer((req, res) => {
    others.push(req.headers.authorization)
    res.end()
  })
  const { origin } = await httpServer((_req, res) =>
    res.writeHead(307, { Location: `${other.origin}/mcp` }).end(),
  )
  const run = await startRecorder(`${origin}/mcp`, '--header', `Authorization: Bearer ${TOKEN}`)
  const answer = await ask(run.url, post(PING))
  expect(answer).toMatchObject({ status: 307 } satisfies Partial<Answer>)
  expect(answer.headers).toContain(`Location: ${other.origin}/mcp`)
  expect(others).toEqual([])
})

test('a server that requires OAuth is forwarded unchanged, and the user is told once what works', async () => {
  const challenge = 'Bearer resource_metadata="https://host/.well-known/oauth-protected-resource"'
  const { origin } = await httpServer((_req, res) =>
    res.writeHead(401, { 'WWW-Authenticate': challenge }).end(),
  )
  const run = await startRecorder(`${origin}/mcp`, '-q')
  for (const _ of [1, 2]) {
    const answer = await ask(run.url, post(PING))
    expect(answer.status).toBe(401)
    expect(answer.headers).toContain(`WWW-Authenticate: ${challenge}`)
  }
  await until(() => run.stderr().includes('(401)'))
  expect(run.stderr().match(/401/g)).toHaveLength(1)
  expect(run.stderr()).toMatch(/--header 'Authorization: Bearer \$\{env\.TOKEN\}'.*--forward.*recordFetch/)
})

test('a request that got only a status is shown with that status', async () => {
  const { origin } = await httpServer((_req, res) => res.writeHead(401).end())
  const { url, tape, lines } = await recordUrl(`${origin}/mcp`)
  await ask(url, post(PING))
  await lines()
  const { stdout } = await promisify(execFile)(process.execPath, [REELAY, 'inspect', tape])
  expect(stdout).toMatch(/ping +HTTP 401\n/)
})

test('a token that the server rejects is reported', async () => {
  const { origin } = await httpServer((_req, res) => res.writeHead(401).end())
  const run = await startRecorder(`${origin}/mcp`, '--header', `Authorization: Bearer ${TOKEN}`)
  await ask(run.url, post(PING))
  await until(() => run.stderr().includes('the server rejected the credentials in --header (401)'))
  expect(run.stderr()).not.toContain(TOKEN)
})

test.each([
  [
    ['--url', 'http://127.0.0.1:1/mcp', '--header', 'Authorization: Bearer ${env.NOT_SET_ANYWHERE}'],
    'NOT_SET',
  ],
  [['--url', 'http://127.0.0.1:1/mcp', '--header-env', 'X-Key=NOT_SET_ANYWHERE'], 'NOT_SET'],
  [['--url', 'http://127.0.0.1:1/mcp', '--header-env', 'X-Key'], 'Name=VARIABLE?'],
  [['--url-env', 'NOT_SET_ANYWHERE'], '--url-env needs NOT_SET_ANYWHERE'],
  [['--header', 'A: b', '--', 'node'], '--header has no effect without --url'],
  [['--forward', '--header', 'A: b'], '--header has no effect without --url'],
])('record %j is refused with exit code 2', async (args, why) => {
  const run = start([process.execPath, REELAY, 'record', ...args])
  expect(await run.exited).toEqual({ code: 2, signal: null })
  expect(run.stderr()).toContain(why)
})
