// Sends the odd requests of http-requests.mjs to every listener of Reelay and to node:http, each whole and cut into pieces, and
// compares what was understood. Then a hostile server sends odd responses through every proxy and the bridge.
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { oddRequests } from './http-requests.mjs'
import { attackResponses } from './http-responses.mjs'
import { echoServer, inParallel, recordedTape, startReelay } from './targets.mjs'

const QUIET_MS = 120
const FIRST_BYTE_MS = 600
const UNTIL_CLOSED = Infinity
const PATIENCE_MS = 10_000
const CUTS = {
  whole: () => [],
  'in two': (length) => [length >> 1],
  'in four': (length) => [1, length >> 2, length - 3],
}

export async function run({ only = '' } = {}) {
  const folder = mkdtempSync(join(tmpdir(), 'reelay-attack-'))
  const upstream = await echoServer()
  const tape = await recordedTape(folder, upstream.url)
  const requests = oddRequests().filter(({ name }) => name.includes(only))
  console.log(`HTTP: ${requests.length} odd requests, each whole and in pieces, against node:http\n`)
  console.log(row('listener', 'tried', 'reached', 'failed'))
  let failures = 0
  try {
    for (const [name, open] of Object.entries(DOORS))
      failures += await attackDoor(name, open, { folder, upstream, tape, requests })
    failures += await attackResponses(folder)
  } finally {
    upstream.close()
    rmSync(folder, { recursive: true })
  }
  return failures
}

function row(name, ...cells) {
  return name.padEnd(34) + cells.map((cell) => String(cell).padStart(10)).join('')
}

/** Starts a listener. `lines` are needed by every request to it, `isLocal` says that it checks the host. */
export const DOORS = {
  'serve --http': async ({ folder, tape, limit }) => {
    const program = await startReelay(['serve', tape, '--http', '--leftovers', 'note'], folder, undefined, {
      limit,
    })
    return { program, isLocal: true, path: '/mcp', lines: JSON_LINES }
  },
  'serve --http --clock (node:http)': async ({ folder, tape, limit }) => {
    const program = await startReelay(
      ['serve', tape, '--http', '--clock', 'recorded', '--leftovers', 'note'],
      folder,
      undefined,
      { limit },
    )
    return { program, isLocal: true, path: '/mcp', lines: JSON_LINES }
  },
  'serve --sse': async ({ folder, tape, limit }) => {
    const program = await startReelay(['serve', tape, '--sse', '--leftovers', 'note'], folder, undefined, {
      limit,
    })
    return { program, isLocal: true, path: '/messages', lines: JSON_LINES }
  },
  'record --url': async ({ folder, upstream, limit }) => {
    const tape = join(folder, `url-${Date.now()}.tape.jsonl`)
    const program = await startReelay(['record', '--url', upstream.url, '-o', tape], folder, undefined, {
      limit,
    })
    return { program, isLocal: true, path: '/mcp', tape, upstream }
  },
  'record --forward': async ({ folder, upstream, limit }) => {
    const { tape, program, access } = await forwardProxy(folder, limit)
    return { program, isLocal: false, path: upstream.url, lines: [access], tape, upstream }
  },
  'record --forward, CONNECT': async ({ folder, upstream, limit }) => {
    const { tape, program, access } = await forwardProxy(folder, limit)
    const { host } = new URL(upstream.url)
    const before = `CONNECT ${host} HTTP/1.1\r\nHost: ${host}\r\n${access}\r\n\r\n`
    return { program, isLocal: false, path: '/mcp', before, tape, upstream }
  },
}

/** A served tape reads the body only if these are right. */
const JSON_LINES = ['Content-Type: application/json', 'Accept: application/json, text/event-stream']

async function forwardProxy(folder, limit) {
  const tape = join(folder, `forward-${Date.now()}.tape.jsonl`)
  const program = await startReelay(['record', '--forward', '-o', tape], folder, 'NODE_USE_ENV_PROXY', {
    limit,
  })
  const { username, password } = new URL(program.url)
  return { tape, program, access: `Proxy-Authorization: Basic ${btoa(`${username}:${password}`)}` }
}

async function attackDoor(name, open, context) {
  const door = await open(context)
  const judge = await referenceServer()
  const { port } = new URL(door.program.url)
  const reached = door.upstream?.reached ?? []
  reached.length = 0
  const tries = context.requests.flatMap((request, at) =>
    Object.entries(CUTS).map(([cut, cutsOf], nth) => {
      const tag = `${at}.${nth}`
      const path = `${door.path}?c=${tag}`
      const hidden = door.path.startsWith('http')
        ? `${new URL(door.path).origin}/hidden?c=${tag}`
        : `/hidden?c=${tag}`
      const text = request.text({ target: path, host: '127.0.0.1', lines: door.lines ?? [], hidden })
      return { ...request, tag, cut, text, cuts: cutsOf(text.length) }
    }),
  )
  const answers = await inParallel(tries, (each) => exchange(port, each, door.before))
  const judged = await inParallel(tries, (each) => exchange(judge.port, each))
  const isAlive = await answersWell(door, port)
  await sleep(200)
  const byTag = new Map()
  for (const request of reached)
    byTag.set(tagOf(request.url), [...(byTag.get(tagOf(request.url)) ?? []), request])
  const faults = isAlive ? [] : ['it does not answer an ordinary request any more']
  for (const [at, each] of tries.entries()) {
    const [got, expected] = [answers[at], judged[at]]
    const label = `${each.name} (${each.cut}): ${shown(got)}, node:http ${shown(expected)}`
    const isRefused = got.statuses.every((status) => status >= 400)
    const arrived = byTag.get(each.tag) ?? []
    const isForbidden = each.refused === 'everywhere' || (each.refused === 'local' && door.isLocal)
    // A path that nothing is served at is refused too.
    const isRead = door.upstream === undefined && got.understood > 0 && !got.statuses.includes(404)
    if (isForbidden && (!isRefused || isRead || arrived.length > 0)) faults.push(`${label}: must be refused`)
    const accepted = door.upstream === undefined ? got.understood : arrived.length
    const allowed = await allowedRequests(judge, each, accepted)
    if (accepted > allowed.length) faults.push(`${label}: accepts more`)
    for (const request of arrived) {
      const found = allowed.findIndex((other) => isSame(other, request))
      if (found < 0) faults.push(`${label}: ${request.method} ${request.url.slice(0, 80)} reached the server`)
      else allowed.splice(found, 1)
    }
  }
  const untagged = judge.requests.filter(({ url }) => tagOf(url) === '')
  for (const request of byTag.get('') ?? [])
    if (!request.url.endsWith('/alive') && !untagged.some((other) => isSame(other, request)))
      faults.push(`${request.method} ${request.url.slice(0, 80)} reached the server, from nowhere`)
  await door.program.stop()
  if (door.tape !== undefined) {
    const onTape = readFileSync(door.tape, 'utf8')
      .split('\n')
      .filter((line) => line.includes('"http":{"method":')).length
    if (onTape < reached.length)
      faults.push(`${reached.length} requests reached the server, ${onTape} are on the tape`)
  }
  judge.close()
  console.log(row(name, tries.length, reached.length, faults.length))
  for (const fault of faults.slice(0, 20)) console.log(`  ${fault}`)
  return faults.length
}

function shown({ statuses }) {
  return statuses.join(' ') || 'closed'
}

/** The number of the try that a request belongs to; empty if its target does not have it. */
function tagOf(url) {
  return /c=(\d+\.\d)/.exec(url)?.[1] ?? ''
}

function pathOf(url) {
  return url.replace(/^https?:\/\/[^/?#]*/i, '').replace(/#.*/s, '')
}

function isSame(one, other) {
  return one.method === other.method && pathOf(one.url) === pathOf(other.url) && one.body === other.body
}

/** A request may have come too late to be noted, so it is sent once more before it counts as wrong. */
async function allowedRequests(judge, each, accepted) {
  const noted = () => judge.requests.filter(({ url }) => tagOf(url) === each.tag)
  if (noted().length < accepted) await exchange(judge.port, each, undefined, 600)
  const all = noted()
  return all.length > 0 || tagOf(each.text) !== ''
    ? all
    : judge.requests.filter(({ url }) => tagOf(url) === '')
}

/** node:http, with the same limits for heads. */
async function referenceServer() {
  const requests = []
  const server = createServer({ maxHeaderSize: 128 * 1024 }, (req, res) => {
    let body = ''
    req.setEncoding('latin1')
    req.on('data', (chunk) => (body += chunk))
    req.on('end', () => {
      requests.push({ method: req.method, url: req.url, body })
      res.end('ok')
    })
    req.on('error', () => {})
  })
  server.maxHeadersCount = 0
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const close = () => {
    server.close()
    server.closeAllConnections()
  }
  return { port: server.address().port, requests, close }
}

/** Sends the pieces of a request, and returns the statuses of what came back until there was silence. */
async function exchange(port, { text, cuts }, before = '', quietMs = QUIET_MS) {
  const socket = connect(port, '127.0.0.1').setNoDelay(true)
  let received = ''
  let isClosed = false
  socket.on('data', (chunk) => (received += chunk.toString('latin1')))
  socket.on('close', () => (isClosed = true))
  socket.on('error', () => {})
  if (before !== '') {
    socket.write(before, 'latin1')
    await until(() => isClosed || received.includes('\r\n\r\n'), PATIENCE_MS)
    received = ''
  }
  const ends = [...cuts, text.length]
  for (const [at, end] of ends.entries()) {
    socket.write(text.slice(ends[at - 1] ?? 0, end), 'latin1')
    if (at + 1 < ends.length) await sleep(5)
  }
  if (quietMs === UNTIL_CLOSED) await until(() => isClosed, PATIENCE_MS)
  else {
    await until(() => isClosed || received !== '', FIRST_BYTE_MS)
    for (let length = -1; length !== received.length;) {
      length = received.length
      await until(() => isClosed, quietMs)
    }
  }
  socket.destroy()
  const statuses = [...received.matchAll(/HTTP\/1\.1 (\d{3})/g)].map(([, status]) => Number(status))
  // An error of JSON-RPC is the answer to a request that was read. Codes from -39000 on are refusals.
  const understood =
    statuses.filter((status) => status >= 200 && status < 400).length +
    [...received.matchAll(/"code":-32\d{3}/g)].length
  return { statuses: statuses.filter((status) => status >= 200), understood }
}

async function until(isTrue, timeoutMs) {
  const end = Date.now() + timeoutMs
  while (!isTrue() && Date.now() < end) await sleep(2)
}

/** Whether a listener gives an ordinary request its ordinary answer. */
export async function answersWell(door, port) {
  const target = door.path.startsWith('http') ? `${new URL(door.path).origin}/alive` : '/alive'
  const lines = [`GET ${target} HTTP/1.1`, 'Host: 127.0.0.1', ...(door.lines ?? []), 'Connection: close']
  const { statuses } = await exchange(
    port,
    { text: `${lines.join('\r\n')}\r\n\r\n`, cuts: [] },
    door.before,
    UNTIL_CLOSED,
  )
  return statuses[0] === (door.upstream === undefined ? 404 : 200)
}
