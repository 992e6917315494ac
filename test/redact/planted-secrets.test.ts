import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { everythingIn } from '../support/everything-in.ts'
import { fixtureServer, linesOf, record, temporaryFolder } from '../support/recorder.ts'
import { ask, httpServer, recordUrl } from '../support/http.ts'
import { leaks, LOOKS, NAMED, type Planted } from '../support/planted.ts'
import { costlyCases } from '../support/cases.ts'

const some = (arbitrary: fc.Arbitrary<Planted>): fc.Arbitrary<Planted[]> =>
  fc.array(arbitrary, { minLength: 4, maxLength: 4 })
const base64 = (text: string): string => Buffer.from(text).toString('base64')

test('whatever secrets cross a pipe, none of them is in any file that the recorder wrote', async () => {
  await fc.assert(
    fc.asyncProperty(some(LOOKS), some(NAMED), fc.nat(1000), async (looks, named, cut) => {
      const [inEnv, inField, inArgv, inText] = named as [Planted, Planted, Planted, Planted]
      const home = temporaryFolder()
      const env = { ...process.env, REELAY_HOME: home, SERVICE_PASSWORD: inEnv.value }
      const server = fixtureServer('repeat', '--api-key', inArgv.value, looks[0]!.value)
      const run = record(server, { env })
      const secrets = [...looks, ...named]
      for (const [id, message] of conversation(looks, { inEnv, inField, inArgv, inText }).entries()) {
        const line = Buffer.from(
          `${JSON.stringify({ jsonrpc: '2.0', id, method: 'tools/call', params: message })}\n`,
        )
        run.child.stdin.write(line.subarray(0, cut % line.length))
        await new Promise((later) => setImmediate(later))
        run.child.stdin.write(line.subarray(cut % line.length))
        expect(await run.line(`"id":${id},"result"`)).toContain(
          JSON.stringify(message.arguments).slice(1, -1),
        )
      }
      run.child.stdin.end()
      await run.exited
      expect(leaks(everythingIn(dirname(run.tape), home), secrets)).toEqual([])
      expect(linesOf(run.tape).filter(({ msg }) => msg !== undefined)).toHaveLength(10)
    }),
    { ...costlyCases(6), endOnFailure: true },
  )
})

interface Message {
  readonly arguments: Readonly<Record<string, unknown>>
  readonly complain?: string
  readonly print?: string
}

function conversation(
  looks: readonly Planted[],
  { inEnv, inField, inArgv, inText }: Record<'inEnv' | 'inField' | 'inArgv' | 'inText', Planted>,
): readonly Message[] {
  const all = looks.map(({ value }) => value)
  return [
    { arguments: { password: inField.value, list: all } },
    { arguments: { text: `config = {"client_secret": ${JSON.stringify(inText.value)}}`, note: inEnv.value } },
    {
      arguments: { inner: JSON.stringify({ apiKey: inText.value, deep: [inArgv.value] }) },
      complain: all.join(' '),
    },
    {
      arguments: {
        blob: base64(`some text, ${inField.value} and ${inText.value}`),
        url: `https://h/?x=${encodeURIComponent(inEnv.value)}`,
      },
      print: `DEBUG ${inField.value} ${all.join(',')}`,
    },
    {
      arguments: { [all[1]!]: base64(`x${all[2]!}`) },
      complain: `failed for ${inArgv.value}, ${base64(inEnv.value)}`,
    },
  ]
}

test('whatever secrets cross HTTP, none of them is on the tape, and a header has the stand-in of the body', async () => {
  await fc.assert(
    fc.asyncProperty(some(LOOKS), some(NAMED), async (looks, named) => {
      const [bearer, cookie, inQuery, inBody] = named.map(({ value }) => headerSafe(value)) as [
        string,
        string,
        string,
        string,
      ]
      const list = looks.map(({ value }) => value)
      const { origin } = await httpServer((req, res) => {
        res.writeHead(200, { 'Content-Type': 'text/event-stream', 'Set-Cookie': `sid=${cookie}; Path=/` })
        const result = { headers: req.headers, url: req.url, list }
        const event = `: ${list[0]!.split('\n')[0]}\n\ndata: ${JSON.stringify({ jsonrpc: '2.0', id: 1, result })}\n\n`
        res.write(event.slice(0, 40))
        setImmediate(() => res.end(event.slice(40)))
      })
      const { origin: recorder, lines, tape } = await recordUrl(`${origin}/mcp`)
      const headers = {
        'Content-Type': 'application/json',
        Authorization: `Bearer ${bearer}`,
        Cookie: `sid=${cookie}`,
        'Mcp-Param-Login': `=?base64?${base64(inBody)}?=`,
      }
      const call = {
        jsonrpc: '2.0',
        id: 1,
        method: 'tools/call',
        params: { name: 'x', arguments: { password: inBody, list } },
      }
      const path = `/mcp?api_key=${encodeURIComponent(inQuery)}`
      await ask(recorder, { method: 'POST', path, headers, body: JSON.stringify(call) })
      const taped = await lines()
      const secrets = [
        ...looks,
        ...[bearer, cookie, inQuery, inBody].map((value) => ({ kind: 'named', value })),
      ]
      expect(leaks(readFileSync(tape, 'utf8'), secrets)).toEqual([])
      const [head, body] = [taped.find(({ http }) => http), taped.find(({ msg }) => msg)]
      const mirrored = /"Mcp-Param-Login","=\?base64\?([^?]+)\?="/.exec(JSON.stringify(head))?.[1] ?? ''
      expect(Buffer.from(mirrored, 'base64').toString()).toBe(Object(body)['msg'].params.arguments.password)
    }),
    costlyCases(25),
  )
})

function headerSafe(value: string): string {
  return value.replaceAll(/[^\w-]/g, '_')
}

test('--no-redact says so loudly, and writes everything', async () => {
  const run = record(fixtureServer('repeat'), { options: ['--no-redact', '-q'] })
  const secret = `ghp_${'a1'.repeat(18)}`
  run.child.stdin.write(`{"jsonrpc":"2.0","id":1,"method":"m","params":{"arguments":{"x":"${secret}"}}}\n`)
  await run.line('"result"')
  run.child.stdin.end()
  await run.exited
  expect(run.stderr()).toBe(`reelay: WARNING: --no-redact: secrets are written to ${run.tape} as they are\n`)
  expect(readFileSync(run.tape, 'utf8')).toContain(secret)
  expect(linesOf(run.tape)[0]).not.toHaveProperty('redaction')
})

test('a config that cannot be read costs the tape, not the session', async () => {
  const cwd = temporaryFolder()
  const { writeFileSync } = await import('node:fs')
  writeFileSync(join(cwd, 'reelay.config.yaml'), 'redaction:\n  off: [nothing]\n')
  const run = record(fixtureServer('repeat'), { cwd })
  run.child.stdin.write('{"jsonrpc":"2.0","id":1,"method":"m","params":{"arguments":{}}}\n')
  await run.line('"result"')
  run.child.stdin.end()
  expect(await run.exited).toEqual({ code: 0, signal: null })
  expect(run.stderr()).toContain(
    'line 2, column 9: "redaction.off[0]" turns off "nothing", which is not a rule; the session goes on without a tape',
  )
  expect(() => readFileSync(run.tape)).toThrow('ENOENT')
})

test('the rules of the project are used, and e-mail addresses are replaced when asked for', async () => {
  const cwd = temporaryFolder()
  const { writeFileSync } = await import('node:fs')
  writeFileSync(join(cwd, 'reelay.config.yaml'), 'redaction:\n  fields: [customerNumber]\n')
  const run = record(fixtureServer('repeat'), { cwd, options: ['--redact-email'] })
  run.child.stdin.write(
    '{"jsonrpc":"2.0","id":1,"method":"m","params":{"arguments":{"customer_number":"C-77","to":"a@b.test"}}}\n',
  )
  await run.line('"result"')
  run.child.stdin.end()
  await run.exited
  const text = readFileSync(run.tape, 'utf8')
  expect(text).not.toMatch(/C-77|a@b\.test/)
  expect(linesOf(run.tape)[0]).toMatchObject({ redaction: { rules: 'default-9+email+project' } })
  expect(run.stderr()).toMatch(/ \(2 secrets replaced\)\nreelay: next, serve it .*\n$/)
})

test('a private key that is printed line by line is replaced line by line', async () => {
  const run = record(fixtureServer('repeat'))
  const body = Buffer.from('not really a key, but long enough to look like one').toString('base64')
  const print = `-----BEGIN PRIVATE KEY-----\n${body.slice(0, 40)}\n${body.slice(40)}\n-----END PRIVATE KEY-----`
  run.child.stdin.write(
    `${JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'm', params: { arguments: {}, print, complain: print } })}\n`,
  )
  await run.line('"result"')
  run.child.stdin.end()
  await run.exited
  const text = readFileSync(run.tape, 'utf8')
  expect(text).not.toContain(body.slice(0, 40))
  expect(text).not.toContain(body.slice(40))
})
