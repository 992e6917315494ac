// Servers of others, unchanged: a session of each is recorded and verified by the built program. The Python servers are installed from PyPI.
import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { everything, filesystem, memory } from '../interop/programs.mjs'
import { ended, start } from '../processes.mjs'
import { main, recording } from '../recorder.mjs'
import { playOverStdio } from './client.mjs'
import { falseAlarmsIn } from './judgement.mjs'

/** Returns for each server how often it was verified, and how often it failed although it has not changed. */
export async function measureServers(runs) {
  const folder = mkdtempSync(join(tmpdir(), 'reelay-servers-'))
  const files = join(folder, 'files')
  mkdirSync(files)
  writeFileSync(join(files, 'a.txt'), 'price 10 EUR\n')
  const results = []
  for (const { name, command, calls } of [...nodeServers(files), ...pythonServers(files)]) {
    const tape = join(folder, `${name}.tape.jsonl`)
    const env = { ...process.env, REELAY_HOME: join(folder, 'home') }
    await recordCalls({ tape, command, calls, env, root: files })
    const result = { name, runs: 0, alarmed: 0, why: '' }
    while (result.runs < runs) {
      const [alarm] = falseAlarmsIn(await verify(tape, command, env))
      result.runs += 1
      if (alarm !== undefined) Object.assign(result, { alarmed: result.alarmed + 1, why: alarm.text })
    }
    results.push(result)
  }
  rmSync(folder, { recursive: true, force: true })
  return results
}

/** Records a session that lists the tools of a server and makes these calls. */
export async function recordCalls({ tape, command, calls, env, root }) {
  const play = async ({ ask, call }) => {
    await ask('tools', 'tools/list', {})
    for (const [n, [tool, args]] of calls.entries()) await call(tool, args, `call-${n}`)
  }
  await playOverStdio({ command: [...recording(tape), ...command], env, era: 'legacy', play, root })
}

async function verify(tape, command, env) {
  const args = ['verify', tape, '--json', '--no-config', '--allow-writes', '--', ...command]
  const child = start([process.execPath, main, ...args], { env, stdio: ['ignore', 'pipe', 'pipe'] })
  const output = { stdout: '', stderr: '' }
  for (const name of ['stdout', 'stderr'])
    child[name].setEncoding('utf8').on('data', (chunk) => (output[name] += chunk))
  const code = await ended(child)
  return { code, stderr: output.stderr, report: output.stdout === '' ? undefined : JSON.parse(output.stdout) }
}

export function nodeServers(files) {
  return [
    {
      name: 'server-everything',
      command: everything,
      calls: [
        ['echo', { message: 'hello' }],
        ['get-sum', { a: 2, b: 3 }],
        ['get-structured-content', { location: 'New York' }],
      ],
    },
    {
      name: 'server-filesystem',
      command: [...filesystem, files],
      calls: [
        ['list_directory', { path: files }],
        ['read_text_file', { path: join(files, 'a.txt') }],
        ['get_file_info', { path: join(files, 'a.txt') }],
      ],
    },
    {
      name: 'server-memory',
      command: memory,
      calls: [
        ['read_graph', {}],
        ['search_nodes', { query: 'x' }],
      ],
    },
  ]
}

/** `REELAY_VENV` names a folder with the servers, so that they are installed once only. */
function pythonServers(files) {
  const venv = process.env.REELAY_VENV ?? mkdtempSync(join(tmpdir(), 'reelay-venv-'))
  const programs = join(venv, process.platform === 'win32' ? 'Scripts' : 'bin')
  if (process.env.REELAY_VENV === undefined) {
    run('python3', ['-m', 'venv', venv])
    run(join(programs, 'pip'), ['install', '-q', 'mcp-server-time', 'mcp-server-git'])
  }
  run('git', ['-C', files, 'init', '-q'])
  return [
    {
      name: 'mcp-server-time (Python)',
      command: [join(programs, 'mcp-server-time'), '--local-timezone=UTC'],
      calls: [
        ['get_current_time', { timezone: 'Asia/Tokyo' }],
        ['convert_time', { source_timezone: 'UTC', time: '12:30', target_timezone: 'Asia/Tokyo' }],
      ],
    },
    {
      name: 'mcp-server-git (Python)',
      command: [join(programs, 'mcp-server-git'), '--repository', files],
      calls: [['git_status', { repo_path: files }]],
    },
  ]
}

function run(command, args) {
  const { status, stderr } = spawnSync(command, args, { encoding: 'utf8' })
  if (status !== 0) throw new Error(`${command} ${args.join(' ')} failed: ${stderr}`)
}
