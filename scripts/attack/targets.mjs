// What the attacks over HTTP aim at: programs of Reelay, and the servers behind them.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { root } from '../run.mjs'

const MAIN = process.env.REELAY_MAIN ?? join(root, 'dist', 'cli', 'main.js')

/** Starts the built program with its own home folder, and waits until it says where clients find it. */
export async function startReelay(args, folder, ready, { limit } = {}) {
  const env = { ...process.env, REELAY_HOME: join(folder, 'home') }
  // Where it is allowed, a program may open as many sockets as the attack needs.
  const command =
    limit === undefined
      ? [process.execPath]
      : ['sh', '-c', `ulimit -n ${Number(limit)}; exec "$0" "$@"`, process.execPath]
  const child = spawn(command[0], [...command.slice(1), MAIN, ...args], {
    env,
    stdio: ['pipe', 'pipe', 'pipe'],
  })
  let said = ''
  const exited = once(child, 'exit')
  await new Promise((resolve, reject) => {
    child.stderr.on('data', (chunk) => {
      said += chunk
      if (ready === undefined ? URL_LINE.test(said) : said.includes(ready)) resolve()
    })
    child.once('exit', () => reject(new Error(`reelay ${args.join(' ')} ended early: ${said}`)))
  })
  const url = URL_LINE.exec(said)?.[1]
  const stop = async () => {
    child.kill('SIGTERM')
    child.stdin.end()
    await exited
    return said
  }
  return { child, pid: child.pid, url, said: () => said, stop }
}

const URL_LINE = /(?:client: |HTTP_PROXY=|listening on )(https?:\/\/\S+)/

/** An MCP server that answers every request, and notes what reached it. */
export async function echoServer() {
  const reached = []
  const server = createServer({ maxHeaderSize: 256 * 1024 }, async (req, res) => {
    const body = await buffer(req).then(
      (bytes) => bytes.toString('latin1'),
      () => undefined,
    )
    if (body === undefined) return // the client left before the request was complete
    reached.push({ method: req.method, url: req.url, body })
    const message = parsed(body)
    const result =
      message?.method === 'initialize'
        ? {
            protocolVersion: '2025-11-25',
            capabilities: { tools: {} },
            serverInfo: { name: 'echo', version: '1' },
          }
        : { content: [{ type: 'text', text: 'echo' }] }
    const text = JSON.stringify({ jsonrpc: '2.0', id: message?.id ?? null, result })
    res.writeHead(200, {
      'Content-Type': 'application/json',
      'Content-Length': Buffer.byteLength(text),
      'Mcp-Session-Id': 'the-only-one',
    })
    res.end(req.method === 'HEAD' ? undefined : text)
  })
  server.maxHeadersCount = 0
  server.on('connect', (_, socket) => socket.destroy())
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const close = () => {
    server.close()
    server.closeAllConnections()
  }
  return { url: `http://127.0.0.1:${server.address().port}/mcp`, reached, close }
}

function parsed(text) {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** Records a short session with a server, and returns the path of the tape. */
export async function recordedTape(folder, upstream) {
  const tape = join(folder, 'served.tape.jsonl')
  const recorder = await startReelay(['record', '--url', upstream, '-o', tape], folder)
  const headers = { 'Content-Type': 'application/json', Accept: 'application/json, text/event-stream' }
  const params = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'a', version: '1' } }
  const messages = [
    { id: 1, method: 'initialize', params },
    { method: 'notifications/initialized' },
    { id: 2, method: 'tools/call', params: { name: 'echo', arguments: { text: 'x'.repeat(200) } } },
  ]
  for (const message of messages) {
    const body = JSON.stringify({ jsonrpc: '2.0', ...message })
    await fetch(recorder.url, { method: 'POST', headers, body }).then((answer) => answer.text())
  }
  await recorder.stop()
  return tape
}

const AT_ONCE = 32

/** Works on a few items at a time, and returns the results in their order. */
export async function inParallel(items, work) {
  const results = []
  let next = 0
  const worker = async () => {
    for (let at = next++; at < items.length; at = next++) results[at] = await work(items[at])
  }
  await Promise.all(Array.from({ length: AT_ONCE }, worker))
  return results
}
