// node bench/long-stream.mjs [--minutes N]: streams that stay open for N minutes (10) through `reelay record --url`.
// One is busy, one says nothing between its first and its last event, and one request waits as long for its head.
// Counts what was sent, received and taped, and watches the memory of the recorder; exits with 1 when anything is missing,
// or when the recorder grew by more than MAY_GROW_MIB.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createReadStream, readFileSync, rmSync } from 'node:fs'
import { createServer, request } from 'node:http'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { parseArgs } from 'node:util'
import { reelay, scratch } from './measure.mjs'

const EVERY_MS = 5
const MAY_GROW_MIB = 20 // less than what crosses in ten minutes
const { values } = parseArgs({ options: { minutes: { type: 'string', default: '10' } } })
const lastsMs = Number(values.minutes) * 60_000
if (!(lastsMs > 0)) {
  console.error('usage: node bench/long-stream.mjs [--minutes N]')
  process.exit(2)
}

const sent = { busy: 0, quiet: 0, late: 0 }
const server = createServer((req, res) => {
  req.resume()
  const kind = req.url.slice('/mcp/'.length)
  if (kind === 'late') return void setTimeout(() => res.end(message(kind)), lastsMs)
  res.writeHead(200, { 'Content-Type': 'text/event-stream' })
  const say = () => void res.write(`data: ${message(kind)}\n\n`)
  say()
  const timer = kind === 'busy' ? setInterval(say, EVERY_MS) : undefined
  setTimeout(() => {
    clearInterval(timer)
    res.end(`data: ${message(kind)}\n\n`)
  }, lastsMs)
})
server.requestTimeout = 0
await once(server.listen(0, '127.0.0.1'), 'listening')

const tape = join(scratch, 'long.tape.jsonl')
const recorder = spawn(
  process.execPath,
  [
    reelay,
    'record',
    '-q',
    '--numbered',
    '-o',
    tape,
    '--url',
    `http://127.0.0.1:${server.address().port}/mcp`,
  ],
  { stdio: ['ignore', 'ignore', 'pipe'] },
)
const [line] = await once(recorder.stderr, 'data')
const { origin } = new URL(/client: (\S+)/.exec(line.toString())[1])
const [before, minute] = [memory(), Math.min(60_000, lastsMs / 10)]
let most = before
const watching = setInterval(() => (most = Math.max(most, memory())), minute)
const received = Object.fromEntries(
  await Promise.all(Object.keys(sent).map(async (kind) => [kind, await receive(kind)])),
)
clearInterval(watching)
const after = memory()
recorder.kill('SIGTERM')
await once(recorder, 'exit')
server.close()
const taped = await countTaped()
for (const kind of Object.keys(sent))
  console.log(`${kind.padEnd(5)} sent ${sent[kind]}, received ${received[kind]}, taped ${taped[kind]}`)
console.log(
  `the recorder used ${before} MiB at the start, ${most} MiB at most, ${after} MiB at the end of ${values.minutes} minutes`,
)
const isWhole = Object.keys(sent).every((kind) => sent[kind] === received[kind] && sent[kind] === taped[kind])
console.log(isWhole ? 'nothing was lost or cut' : 'SOMETHING IS MISSING')
rmSync(scratch, { recursive: true })
const isBounded = !(most - before > MAY_GROW_MIB) // NaN where the system does not tell
if (!isBounded) console.log(`THE RECORDER GREW BY ${most - before} MiB`)
process.exitCode = isWhole && isBounded ? 0 : 1

function message(kind) {
  const params = { progressToken: kind, progress: ++sent[kind], message: 'x'.repeat(100) }
  return JSON.stringify({ jsonrpc: '2.0', method: 'notifications/progress', params })
}

/** How many messages came, in their order, until the answer was over; one that is cut short counts as far as it came. */
async function receive(kind) {
  const req = request(`${origin}/mcp/${kind}`, { method: 'POST', agent: false })
  req.end('{}')
  let count = 0
  try {
    const [answer] = await once(req, 'response')
    for await (const text of createInterface({ input: answer }))
      if (text.includes(`"progress":${count + 1},`)) count++
  } catch (error) {
    console.error(`${kind}: ${error.message}`)
  }
  return count
}

async function countTaped() {
  const counts = { busy: 0, quiet: 0, late: 0 }
  for await (const text of createInterface({ input: createReadStream(tape) })) {
    const { progressToken, progress } = JSON.parse(text).msg?.params ?? {}
    if (progressToken !== undefined && progress === counts[progressToken] + 1) counts[progressToken]++
  }
  return counts
}

/** In MiB, where the system tells. */
function memory() {
  if (process.platform !== 'linux') return NaN
  const kib = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${recorder.pid}/status`, 'utf8'))[1]
  return Math.round(Number(kib) / 1024)
}
