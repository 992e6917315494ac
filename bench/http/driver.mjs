// usage: driver.mjs calls|told <origin> <count> <at once> [<bytes>] | events <origin>: prints p50 in microseconds, and calls a second
import { Agent, request } from 'node:http'

const [kind, origin, count = '0', atOnce = '1', size = '200'] = process.argv.slice(2)
const agent = new Agent({ keepAlive: true, maxSockets: Number(atOnce), scheduling: 'lifo' })
const BODY = JSON.stringify({
  jsonrpc: '2.0',
  id: 1,
  method: 'tools/call',
  params: { name: 'echo', arguments: { text: 'x'.repeat(Math.max(1, Number(size) - 110)) } },
})
/** Requests of 200 B are answered alike, and others in their size; with `told`, as an event. */
const CALL = kind === 'told' ? `/mcp/told?${size}` : size === '200' ? '/mcp/call' : `/mcp/call?${size}`
const HEADERS = {
  'Content-Type': 'application/json',
  Accept: 'application/json, text/event-stream',
  'Content-Length': BODY.length,
}

console.log(JSON.stringify(kind === 'events' ? await events() : await calls()))
agent.destroy()

async function calls() {
  await callMany(Math.min(Math.max(300, Number(count) / 4), Number(count)))
  const began = performance.now()
  const times = await callMany(Number(count))
  return { p50: p50(times), cps: (Number(count) / (performance.now() - began)) * 1000 }
}

async function callMany(left) {
  const times = []
  const loop = async () => {
    while (left-- > 0) {
      const began = performance.now()
      await post(CALL, () => {})
      times.push((performance.now() - began) * 1000)
    }
  }
  await Promise.all(Array.from({ length: Number(atOnce) }, loop))
  return times
}

async function events() {
  const times = []
  for (let round = 0; round < 4; round++) {
    if (round === 1) times.length = 0
    await post('/mcp/events', (chunk) => {
      const now = performance.timeOrigin + performance.now()
      for (const [, at] of chunk.toString().matchAll(/"at":([\d.]+)/g)) times.push((now - Number(at)) * 1000)
    })
  }
  return { p50: p50(times) }
}

function post(path, onChunk) {
  return new Promise((resolve, reject) => {
    const req = request(origin + path, { method: 'POST', agent, headers: HEADERS }, (res) => {
      if (res.statusCode !== 200) reject(new Error(`status ${res.statusCode}`))
      res.on('data', onChunk)
      res.on('end', resolve)
    })
    req.on('error', reject)
    req.end(BODY)
  })
}

function p50(times) {
  return times.toSorted((a, b) => a - b)[times.length >> 1]
}
