// npm run exports [-- newman playwright k6]: runs exports in the programs that are too large to be dev dependencies, each against a
// served tape (must pass) and against one with another answer (must fail). Programs are installed below the temporary folder; k6 is
// built from its Go module, which takes many minutes.
import { spawn, spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { installWhenNeeded, root, run } from './run.mjs'

const NEWMAN = 'newman@6.2.2'
const PLAYWRIGHT = '@playwright/test@1.65.1'
const K6 = 'go.k6.io/k6@v1.8.1'

const tools = join(tmpdir(), 'reelay-export-tools')
const bin = (name) => join(tools, 'node_modules', '.bin', name)

const RUNNERS = {
  newman: {
    format: 'postman',
    file: 'notes.json',
    install: () => installPackage(NEWMAN, 'newman'),
    command: (file, url) => [bin('newman'), 'run', file, '--env-var', `mcp_url=${url}`],
  },
  playwright: {
    format: 'playwright',
    file: 'notes.spec.mjs',
    install: () => installPackage(PLAYWRIGHT, '@playwright/test'),
    command: (file) => [bin('playwright'), 'test', '--reporter=line', file],
  },
  k6: {
    format: 'k6',
    file: 'notes.k6.js',
    install: buildK6,
    command: (file, url) => [
      join(tools, 'k6'),
      'run',
      '-e',
      `MCP_URL=${url}`,
      '-e',
      'DURATION=5s',
      '-e',
      'RATE=5',
      file,
    ],
  },
}

const main = join(root, 'dist', 'cli', 'main.js')
const wanted = process.argv.slice(2)
const names = wanted.length === 0 ? Object.keys(RUNNERS) : wanted
const unknown = names.filter((name) => !(name in RUNNERS))
if (unknown.length > 0) fail(`unknown: ${unknown.join(', ')}; there are ${Object.keys(RUNNERS).join(', ')}`)
installWhenNeeded()
if (!existsSync(main)) fail('build first: npm run build')
mkdirSync(tools, { recursive: true })
writeFileSync(join(tools, 'package.json'), '{"private":true}\n')
const home = mkdtempSync(join(tmpdir(), 'reelay-exports-'))
const env = { ...process.env, REELAY_HOME: home }
const tape = join(home, 'notes.tape.jsonl')
const changed = join(home, 'changed.tape.jsonl')
reelay(['import', join(root, 'test', 'fixtures', 'foreign', 'notes.jsonl'), '-o', tape])
writeFileSync(changed, readFileSync(tape, 'utf8').replace('"price":30.0', '"price":31'))

let failed = 0
for (const name of names) {
  const { format, file, install, command } = RUNNERS[name]
  if (install() !== 0) fail(`${name} could not be installed`)
  const path = join(tools, file)
  rmSync(path, { force: true })
  reelay(['export', tape, '--format', format, '-o', path])
  const passes = await runAgainst(tape, (url) => command(path, url))
  const fails = await runAgainst(changed, (url) => command(path, url))
  const isRight = passes.code === 0 && fails.code !== 0 && fails.code !== null
  if (!isRight) failed++
  console.log(
    `${name}: ${passes.code === 0 ? 'passes' : 'FAILS'} against the tape, ${fails.code === 0 ? 'PASSES' : 'fails'} against another answer`,
  )
  if (!isRight) console.log((passes.code === 0 ? fails : passes).out.slice(-4000))
}
rmSync(home, { recursive: true, force: true })
process.exitCode = failed === 0 ? 0 : 1

function installPackage(spec, name) {
  if (existsSync(join(tools, 'node_modules', name))) return 0
  return run('npm', ['install', '--no-audit', '--no-fund', '--loglevel=error', '--prefix', tools, spec], {
    cwd: tools,
  })
}

function buildK6() {
  if (existsSync(join(tools, 'k6'))) return 0
  console.log('building k6 from its Go module; this takes many minutes')
  return run('go', ['install', K6], { cwd: tools, env: { ...process.env, GOBIN: tools } })
}

function reelay(args) {
  const { status, stderr } = spawnSync(process.execPath, [main, ...args], { env, encoding: 'utf8' })
  if (status !== 0) fail(stderr)
}

/** Runs a command against `reelay serve` of a tape. */
async function runAgainst(served, commandFor) {
  const server = spawn(process.execPath, [main, 'serve', served, '--http', '0'], {
    env,
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  const url = await new Promise((found, lost) => {
    let text = ''
    server.stderr.on('data', (chunk) => {
      text += chunk
      const address = /listening on (\S+)/.exec(text)?.[1]
      if (address !== undefined) found(address)
    })
    server.on('exit', () => lost(new Error(text)))
  })
  const [file, ...args] = commandFor(url)
  const child = spawn(file, args, {
    cwd: tools,
    env: { ...env, MCP_URL: url, CI: '1' },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let out = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (out += chunk))
  const code = await new Promise((ended) => child.on('close', ended))
  server.kill()
  return { code, out }
}

function fail(text) {
  console.error(text)
  process.exit(1)
}
