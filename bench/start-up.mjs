// From starting a process to the answer to `initialize`, with and without the recorder.
import { spawn } from 'node:child_process'
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { compile, goal, here, interleave, median, reelay, scratch } from './measure.mjs'

const INITIALIZE = `${JSON.stringify({
  jsonrpc: '2.0',
  id: 0,
  method: 'initialize',
  params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'bench', version: '1' } },
})}\n`

export async function startUp({ rounds }) {
  const echo = compile('echo')
  const node = [process.execPath, join(here, 'stdio', 'node-server.mjs')]
  const variants = {
    'node -e 0': { command: () => [process.execPath, '-e', '0'], until: 'exit' },
    'C server': { command: () => [echo], until: 'answer' },
    'C server, recorded': { command: () => recorded([echo]), until: 'answer' },
    'Node server': { command: () => node, until: 'answer' },
    'Node server, recorded': { command: () => recorded(node), until: 'answer' },
    'reelay --help': { command: () => [process.execPath, reelay, '--help'], until: 'exit' },
    'small tape, served': { command: () => served(1), until: 'answer' },
    '4,000 exchanges, served': { command: () => served(4000), until: 'answer' },
  }
  console.log('\nfrom start to the answer to initialize')
  const results = await interleave(rounds * 5, variants, timeOne)
  const ms = Object.fromEntries(Object.entries(results).map(([name, values]) => [name, median(values)]))
  for (const [name, value] of Object.entries(ms)) console.log(`  ${name.padEnd(24)} ${value.toFixed(1)} ms`)
  const cost = (server) => (ms[`${server}, recorded`] - ms[server]) / ms['node -e 0']
  return [
    goal('added in front of a Node server, as a multiple of node -e 0', cost('Node server'), 1.5, 'at most'),
    goal('added in front of a C server, as a multiple of node -e 0', cost('C server'), 1.5, 'at most'),
    goal('reelay --help, ms', ms['reelay --help'], 60, 'at most'),
    goal(
      'first answer of a small tape, beside node -e 0',
      ms['small tape, served'] / ms['node -e 0'],
      1.5,
      'at most',
    ),
    goal(
      'of 4,000 exchanges, beside node -e 0',
      ms['4,000 exchanges, served'] / ms['node -e 0'],
      2,
      'at most',
    ),
  ]
}

let tapes = 0

/** A tape of its own each time, as a client's sessions have by default. */
function recorded(command) {
  const tape = join(scratch, `start-${++tapes}.tape.jsonl`)
  return [process.execPath, reelay, 'record', '-q', '--numbered', '-o', tape, '--', ...command]
}

/** A tape in the tape folder. Code caches and the index are there from the second start on, as for a user. */
function served(exchanges) {
  const name = `bench-start-${exchanges}`
  const file = join(process.env.REELAY_HOME, 'tapes', `${name}.tape.jsonl`)
  if (!existsSync(file)) {
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(file, tapeOf(exchanges))
  }
  return [process.execPath, reelay, 'serve', name]
}

function tapeOf(exchanges) {
  const started = '2026-11-17T00:00:00.000Z'
  const servers = { s: { transport: 'stdio', command: ['s'], env: [] } }
  const header = { reelay: 1, id: '01KABCDEFGHJKMNPQRSTVWXYZ0', started, by: 'reelay 0.1.0', servers }
  const info = { name: 's', version: '1' }
  const messages = [
    ['c2s', JSON.parse(INITIALIZE)],
    [
      's2c',
      {
        jsonrpc: '2.0',
        id: 0,
        result: { protocolVersion: '2025-06-18', capabilities: { tools: {} }, serverInfo: info },
      },
    ],
    ...Array.from({ length: exchanges }, (_, at) => [
      [
        'c2s',
        { jsonrpc: '2.0', id: at + 1, method: 'tools/call', params: { name: 'look', arguments: { at } } },
      ],
      [
        's2c',
        {
          jsonrpc: '2.0',
          id: at + 1,
          result: { content: [{ type: 'text', text: `${at} ${'x'.repeat(200)}` }] },
        },
      ],
    ]).flat(),
  ]
  const frames = messages.map(([dir, msg], at) => ({ n: at + 1, t: at, server: 's', conn: 1, dir, msg }))
  const n = frames.length + 1
  const end = { n, t: n, event: 'end', frames: n }
  return [header, ...frames, end].map((line) => `${JSON.stringify(line)}\n`).join('')
}

function timeOne({ command, until }) {
  const [file, ...args] = command()
  return new Promise((resolve) => {
    const began = performance.now()
    const child = spawn(file, args, { stdio: ['pipe', 'pipe', 'ignore'] })
    let seconds
    const stop = () => {
      seconds ??= performance.now() - began
      child.stdin.end()
    }
    child.stdin.on('error', () => {})
    child.stdout.on('data', stop)
    child.on('exit', () => resolve(seconds ?? (until === 'exit' ? performance.now() - began : NaN)))
    if (until === 'answer') child.stdin.write(INITIALIZE)
  })
}
