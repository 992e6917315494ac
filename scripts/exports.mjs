// npm run exports [-- <name>…]: runs exports in programs that are too large to be dev dependencies, each against a served tape (must
// pass) and against one with another answer (must fail); and reads exports with validators and other tools, which have to find the
// recorded answers and to refuse a damaged file. Programs are installed below the temporary folder; k6 is built from its Go module,
// which takes many minutes.
import { spawn, spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { installNode, NODES } from './pinned.mjs'
import { installWhenNeeded, root, run } from './run.mjs'

const K6 = 'go.k6.io/k6@v1.8.1'
const VALIDATORS = [
  '@seriousme/openapi-schema-validator@2.11.0',
  'har-validator@5.1.5',
  '@paulirish/trace_engine@0.0.65',
]
const MCPORTER = 'mcporter@0.12.3'
const PYTHON = ['agent-vcr==0.1.0', 'opentelemetry-proto==1.45.2']

const tools = join(tmpdir(), 'reelay-export-tools')

const RUNNERS = {
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

const readByNode = (format, file) => [
  process.execPath,
  join(root, 'scripts', 'exports', 'read.mjs'),
  format,
  file,
]
const readByPython = (format, file) => [
  join(tools, 'python', 'bin', 'python3'),
  join(root, 'scripts', 'exports', 'read.py'),
  format,
  file,
]
const without = (name) => (text) => text.replace(`"${name}":`, `"no ${name}":`)
const otherAnswer = (text) => text.replaceAll('30.0', '31')

/** What a program has to find in an export, and a change after which it must not. */
const READERS = {
  openapi: { install: installValidators, read: readByNode, finds: '/tools/create', damage: without('info') },
  har: { install: installValidators, read: readByNode, finds: 'POST 200', damage: without('version') },
  trace: {
    install: installValidators,
    read: readByNode,
    finds: 'notes',
    damage: (text) => text.replaceAll('"ph":"e"', '"ph":"n"'),
  },
  otlp: { install: installPython, read: readByPython, finds: 'tools/call read', damage: without('spanId') },
  'agent-vcr': { install: installPython, read: readByPython, finds: '"price": 30.0', damage: otherAnswer },
}

const main = join(root, 'dist', 'cli', 'main.js')
const wanted = process.argv.slice(2)
const known = [...Object.keys(RUNNERS), ...Object.keys(READERS), 'mcporter']
const names = wanted.length === 0 ? known : wanted
const unknown = names.filter((name) => !known.includes(name))
if (unknown.length > 0) fail(`unknown: ${unknown.join(', ')}; there are ${known.join(', ')}`)
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
for (const name of names.filter((each) => each in RUNNERS)) {
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
for (const name of names.filter((each) => each in READERS)) report(name, checkReader(name))
if (names.includes('mcporter')) report('mcporter', checkMcporter())
rmSync(home, { recursive: true, force: true })
process.exitCode = failed === 0 ? 0 : 1

function report(name, problem) {
  if (problem !== undefined) failed++
  console.log(`${name}: ${problem ?? 'reads the export, and not a changed one'}`)
}

/** Returns what is wrong. */
function checkReader(name) {
  const { install, read, finds, damage } = READERS[name]
  if (install() !== 0) fail(`${name} could not be installed`)
  const path = join(home, `notes.${name}.json`)
  reelay(['export', tape, '--format', name, '-o', path])
  const whole = outputOf(read(name, path))
  if (whole.code !== 0 || !whole.out.includes(finds)) return `FAILS to read the export\n${whole.out}`
  writeFileSync(path, damage(readFileSync(path, 'utf8')))
  const damaged = outputOf(read(name, path))
  return damaged.code === 0 && damaged.out.includes(finds) ? 'PASSES a changed export' : undefined
}

/** mcporter replays what it asked itself, so its session is recorded first. Then its server is gone. */
function checkMcporter() {
  if (installPackage(MCPORTER, 'mcporter', ['--force']) !== 0) fail('mcporter could not be installed')
  const recorded = join(home, 'search.tape.jsonl')
  const server = join(root, 'test', 'fixtures', 'servers', 'catalogue.mjs')
  const record = [main, 'record', '-o', recorded, '--server', 'shop', '--', process.execPath, server]
  const live = mcporter(record, {})
  if (live.code !== 0) return `FAILS with the recorder\n${live.out}`
  const file = join(home, '.mcporter', 'recordings', 'search.ndjson')
  mkdirSync(join(home, '.mcporter', 'recordings'), { recursive: true })
  reelay(['export', recorded, '--format', 'mcporter', '-o', file])
  const gone = ['gone.mjs']
  const replayed = mcporter(gone, { MCPORTER_REPLAY: 'search' })
  if (replayed.code !== 0 || replayed.out !== live.out) return `FAILS to replay the export\n${replayed.out}`
  const lines = readFileSync(file, 'utf8').split('\n')
  const answered = lines.map((line) =>
    line.includes('"dir":"recv"') ? line.replaceAll('tea', 'milk') : line,
  )
  writeFileSync(file, answered.join('\n'))
  const other = mcporter(gone, { MCPORTER_REPLAY: 'search' })
  return other.out === live.out ? 'PASSES a changed export' : undefined
}

function mcporter(args, variables) {
  const config = join(home, 'mcporter.json')
  writeFileSync(config, JSON.stringify({ mcpServers: { shop: { command: process.execPath, args } } }))
  const cli = join(tools, 'node_modules', 'mcporter', 'dist', 'cli.js')
  const words = [installNode(NODES.at(-1)), cli, '--config', config, 'call', 'shop.search', 'query=tea']
  return outputOf(words, { HOME: home, MCPORTER_DISABLE_KEEPALIVE: '*', ...variables })
}

function outputOf([file, ...args], variables = {}) {
  const options = { cwd: tools, env: { ...env, ...variables }, encoding: 'utf8', timeout: 120_000 }
  const { status, stdout, stderr } = spawnSync(file, args, options)
  return { code: status, out: status === 0 ? stdout : stdout + stderr }
}

function installValidators() {
  if (existsSync(join(tools, 'node_modules', 'har-validator'))) return 0
  return run(
    'npm',
    ['install', '--no-audit', '--no-fund', '--loglevel=error', '--prefix', tools, ...VALIDATORS],
    { cwd: tools },
  )
}

function installPython() {
  const folder = join(tools, 'python')
  if (existsSync(join(folder, 'installed'))) return 0
  const code =
    run('python3', ['-m', 'venv', folder], { cwd: tools }) ||
    run(join(folder, 'bin', 'pip'), ['install', '--quiet', ...PYTHON], { cwd: tools })
  if (code === 0) writeFileSync(join(folder, 'installed'), '')
  return code
}

function installPackage(spec, name, options = []) {
  if (existsSync(join(tools, 'node_modules', name))) return 0
  return run(
    'npm',
    ['install', '--no-audit', '--no-fund', '--loglevel=error', ...options, '--prefix', tools, spec],
    {
      cwd: tools,
    },
  )
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
