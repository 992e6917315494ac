// From starting a process to the answer to `initialize`, with and without the recorder.
import { spawn } from 'node:child_process'
import { join } from 'node:path'
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
  }
  console.log('\nfrom start to the answer to initialize')
  const results = await interleave(rounds * 5, variants, timeOne)
  const ms = Object.fromEntries(Object.entries(results).map(([name, values]) => [name, median(values)]))
  for (const [name, value] of Object.entries(ms)) console.log(`  ${name.padEnd(24)} ${value.toFixed(1)} ms`)
  const cost = (server) => (ms[`${server}, recorded`] - ms[server]) / ms['node -e 0']
  return [
    goal('added in front of a Node server, as a multiple of node -e 0', cost('Node server'), 1.5, 'at most'),
    goal('added in front of a C server, as a multiple of node -e 0', cost('C server'), 1.5, 'at most'),
  ]
}

let tapes = 0

/** A tape of its own each time, as a client's sessions have by default. */
function recorded(command) {
  const tape = join(scratch, `start-${++tapes}.tape.jsonl`)
  return [process.execPath, reelay, 'record', '-q', '--numbered', '-o', tape, '--', ...command]
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
