// How many calls a second a served tape answers, beside the official server with a trivial tool and beside bare Node.
import { execFile, spawn } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { promisify } from 'node:util'
import { goal, here, interleave, median, reelay, scratch } from './measure.mjs'
import { callText, tapeText } from './serve/calls.mjs'
import { callOverHttp } from './serve/http-client.mjs'

const run = promisify(execFile)
const program = (name) => join(here, 'serve', `${name}.mjs`)
const CALLS = 12_000

export async function serve({ rounds }) {
  const tape = join(scratch, 'serve.tape.jsonl')
  writeFileSync(tape, tapeText(CALLS))
  const variants = {
    'stdio, reelay': () => overStdio([reelay, 'serve', tape]),
    'stdio, official server': () => overStdio([program('stdio-server')]),
    'in memory, reelay': () => inMemory('reelay', tape),
    'in memory, official pair': () => inMemory('sdk'),
    'HTTP, reelay': () => overHttp([reelay, 'serve', tape, '--http'], CALLS),
    'HTTP, bare node:http': () => overHttp([program('http-servers'), 'bare'], CALLS),
    'HTTP, official server': () => overHttp([program('http-servers'), 'sdk'], CALLS / 10),
  }
  console.log('\ncalls a second, 64 at once, 200 B')
  const results = await interleave(rounds, variants, (measure) => measure())
  for (const [name, values] of Object.entries(results)) console.log(`  ${name.padEnd(26)} ${figures(values)}`)
  const beside = (name, other, figure = 'rate') =>
    median(results[name].map((value, round) => value[figure] / results[other][round][figure]))
  return [
    goal(
      'stdio beside the official pair in memory',
      beside('stdio, reelay', 'in memory, official pair'),
      1.2,
      'at least',
    ),
    goal(
      'in memory beside the official pair',
      beside('in memory, reelay', 'in memory, official pair'),
      1,
      'at least',
    ),
    goal('HTTP beside bare node:http', beside('HTTP, reelay', 'HTTP, bare node:http'), 0.9, 'at least'),
    goal('HTTP beside the official server', beside('HTTP, reelay', 'HTTP, official server'), 12, 'at least'),
    goal(
      'HTTP p99 beside bare node:http',
      beside('HTTP, reelay', 'HTTP, bare node:http', 'p99'),
      2,
      'at most',
    ),
  ]
}

function figures(values) {
  const rate = Math.round(median(values.map((value) => value.rate))).toLocaleString('en')
  const p99 = median(values.map((value) => value.p99))
  return Number.isNaN(p99) ? rate : `${rate.padEnd(8)} p99 ${p99.toFixed(1)} ms`
}

async function inMemory(kind, tape = '') {
  const { stdout } = await run(process.execPath, [program('in-memory'), kind, String(CALLS), tape])
  return { rate: Number(stdout) }
}

async function overHttp(args, calls) {
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'ignore', 'pipe'] })
  try {
    const url = await urlOf(child.stderr)
    await callOverHttp(url, calls / 4) // the first to be measured would else be measured with a cold client
    return await callOverHttp(url, calls)
  } finally {
    child.kill()
  }
}

async function urlOf(words) {
  for await (const line of createInterface(words)) {
    const url = /listening on (\S+)/.exec(line)?.[1]
    if (url !== undefined) return url
  }
}

function overStdio(args) {
  return new Promise((resolve) => {
    const child = spawn(process.execPath, args, { stdio: ['pipe', 'pipe', 'ignore'] })
    let [sent, heard, began] = [0, 0, 0]
    const send = (count) => {
      let lines = ''
      for (let i = 0; i < count && sent < CALLS; i++) lines += `${callText(sent, sent++)}\n`
      if (lines !== '') child.stdin.write(lines)
    }
    child.stdout.on('data', (chunk) => {
      if (began === 0) {
        began = performance.now()
        return send(64)
      }
      const count = linesIn(chunk)
      heard += count
      if (heard < CALLS) return send(count)
      resolve({ rate: (CALLS / (performance.now() - began)) * 1000 })
      child.stdin.end()
    })
    child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id: 'up', method: 'ping' })}\n`)
  })
}

function linesIn(chunk) {
  let lines = 0
  for (let at = chunk.indexOf(10); at >= 0; at = chunk.indexOf(10, at + 1)) lines++
  return lines
}
