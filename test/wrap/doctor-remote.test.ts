import type { IncomingMessage, ServerResponse } from 'node:http'
import { text } from 'node:stream/consumers'
import { beforeEach, expect, test } from 'vitest'
import {
  formatDoctorReport,
  runDoctor,
  type DoctorEntry,
  type DoctorOptions,
} from '../../src/wrap/doctor/doctor.ts'
import { wrapServers } from '../../src/wrap/wrap.ts'
import { httpServer } from '../support/http.ts'
import { REELAY, temporaryFolder } from '../support/recorder.ts'
import { deskIn, type Desk } from './desk.ts'

const CURSOR = 'home/.cursor/mcp.json'
const SECRET = 's3cret-9a8b7c'

let desk: Desk
beforeEach(() => void (desk = deskIn(temporaryFolder())))

test('a server that answers is reachable, and is asked one thing that changes nothing', async () => {
  const seen: unknown[] = []
  const { origin } = await httpServer(async (req, res) => {
    const { method } = JSON.parse(await text(req)) as { method: string }
    seen.push([req.method, req.url, req.headers['mcp-method'], req.headers['x-key'], method])
    res.writeHead(400).end()
  })
  const url = `${origin}/mcp?key=${SECRET}`
  const { checked, shown } = await wrappedAndChecked({ url, headers: { 'X-Key': 'k-1' } })
  expect(checked).toMatchObject({ remote: { kind: 'answers', status: 400 }, findings: [] })
  expect(shown).toContain(`\n       server  ${origin}/…, reachable (HTTP 400)\n`)
  expect(shown + JSON.stringify(checked)).not.toContain(SECRET)
  expect(seen).toEqual([['POST', `/mcp?key=${SECRET}`, 'server/discover', 'k-1', 'server/discover']])
})

test('a server that wants a login: with a header that it refuses, without one, and with one that only the client knows', async () => {
  const { origin } = await httpServer((_req, res) => res.writeHead(401).end())
  const where = `${origin}/mcp`
  const none = await wrappedAndChecked({ url: where })
  expect(none.checked.findings).toEqual([
    {
      kind: 'server-wants-login',
      about: `${where} requires a login (401)`,
      hint: 'a bridge cannot log in: run reelay unwrap remote, and record the client with reelay record --forward',
    },
  ])
  const refused = await wrappedAndChecked({ url: where, headers: { Authorization: `Bearer ${SECRET}` } })
  expect(refused.checked.findings).toMatchObject([{ about: `${where} rejects the configured headers (401)` }])
  expect(refused.shown).not.toContain(SECRET)
  const unknown = await wrappedAndChecked({ url: where, headers: { Authorization: 'Bearer ${env:KEY}' } })
  expect(unknown.checked).toMatchObject({ remote: { kind: 'wants-login', status: 401 }, findings: [] })
  expect(unknown.shown).toContain(`${where}, needs a login (HTTP 401)`)
})

test.each<[string, (req: IncomingMessage, res: ServerResponse) => unknown, object]>([
  ['fails', (_req, res) => res.writeHead(503).end(), { kind: 'server-fails' }],
  [
    'sends its clients to another host',
    (_req, res) => res.writeHead(308, { Location: `https://elsewhere.example/?k=${SECRET}` }).end(),
    { kind: 'server-moved' },
  ],
  ['says nothing', () => {}, { kind: 'server-unreachable', about: expect.stringContaining('within 0.5 s') }],
  [
    'leaves at once',
    (req) => req.socket.destroy(),
    {
      kind: 'server-unreachable',
      about: expect.stringContaining('cannot be reached: the server closed the connection'),
    },
  ],
])('a server that %s is found', async (_, listener, finding) => {
  const { origin } = await httpServer(listener)
  const { checked, shown } = await wrappedAndChecked({ url: `${origin}/mcp` }, { probeTimeoutMs: 500 })
  expect(checked.findings).toMatchObject([finding])
  expect(shown).not.toContain(SECRET)
})

test('a server that is not running is told from one that speaks something else', async () => {
  const plain = await httpServer(() => {})
  const odd = await wrappedAndChecked({ url: plain.origin.replace('http:', 'https:') })
  expect(odd.checked).toMatchObject({
    remote: { kind: 'unreachable' },
    findings: [{ kind: 'server-unreachable' }],
  })
  const { origin, close } = await httpServer(() => {})
  close()
  const gone = await wrappedAndChecked({ url: `${origin}/mcp` })
  expect(gone.checked).toMatchObject({
    remote: { kind: 'refused' },
    findings: [{ kind: 'server-unreachable', about: `${origin}/mcp refuses the connection` }],
  })
})

test('a redirect within the server is no finding, for the bridge follows it', async () => {
  const { origin } = await httpServer((_req, res) => res.writeHead(307, { Location: '/mcp/' }).end())
  const { checked } = await wrappedAndChecked({ url: `${origin}/mcp` })
  expect(checked).toMatchObject({ remote: { kind: 'answers', status: 307 }, findings: [] })
})

test('nobody is asked offline, or where only the client knows the url', async () => {
  const { origin } = await httpServer(() => expect.unreachable())
  const offline = await wrappedAndChecked({ url: `${origin}/mcp` }, { probeTimeoutMs: 'never' })
  expect(offline.shown).toContain(`${origin}/mcp, not asked`)
  const unknown = await wrappedAndChecked({ url: `${origin}/\${input:path}` })
  expect(unknown.checked).toMatchObject({ remote: { kind: 'not-asked' }, findings: [] })
  expect(unknown.shown).toContain('a URL that only the client knows, not asked')
})

test('a variable that was taken out of a wrapped entry is missed', async () => {
  const { origin } = await httpServer((_req, res) => res.writeHead(200).end())
  wrapped({ url: `${origin}/mcp`, headers: { 'X-Key': 'k', 'X-Other': 'o' } })
  desk.write(CURSOR, desk.read(CURSOR).replace('"REELAY_HEADER_1":"k",', ''))
  const { entries } = await runDoctor(desk.where)
  expect(entries[0]?.findings).toMatchObject([
    {
      kind: 'variable-missing',
      about: 'the recorder needs the variable REELAY_HEADER_1, which the env of its entry does not define',
    },
  ])
})

interface Checked {
  readonly checked: DoctorEntry
  readonly shown: string
}

async function wrappedAndChecked(entry: object, options: DoctorOptions = {}): Promise<Checked> {
  wrapped(entry)
  const checkup = await runDoctor(desk.where, options)
  const [checked] = checkup.entries
  if (checked === undefined) throw new Error('nothing is wrapped')
  return { checked, shown: formatDoctorReport(checkup) }
}

function wrapped(entry: object): void {
  desk.write(CURSOR, JSON.stringify({ mcpServers: { remote: entry } }))
  const recorder = { node: process.execPath, program: REELAY }
  wrapServers({ servers: 'all', where: desk.where, dryRun: false, recorder, now: () => new Date(0) })
}
