// The official conformance suite: installed beside the project with the Node that it needs, run, and read.
import { spawn } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { root, run } from '../run.mjs'

export const SUITE = { name: '@modelcontextprotocol/conformance', version: '0.2.0-alpha.12' }
export const NODE = { name: `node-${process.platform}-${process.arch}`, version: '24.21.0' }

const folder = join(root, 'node_modules', '.cache', 'reelay-conformance')
const packages = join(folder, 'node_modules')
const program = join(packages, SUITE.name, 'dist', 'index.js')
const node = join(packages, NODE.name, 'bin', process.platform === 'win32' ? 'node.exe' : 'node')

/** Installs the pinned suite and the pinned Node, unless they are there; says in one line when that cannot be. */
export function installSuite() {
  if ([SUITE, NODE].every(isThere)) return
  const wanted = [SUITE, NODE].map(({ name, version }) => `${name}@${version}`)
  console.log(`installing ${wanted.join(' and ')}`)
  mkdirSync(folder, { recursive: true })
  const quiet = ['--no-save', '--no-package-lock', '--no-audit', '--no-fund', '--loglevel=error']
  // Its own prefix: npm would otherwise walk up and change the project's node_modules.
  run('npm', ['install', '--prefix', folder, ...quiet, ...wanted], { cwd: folder })
  if ([SUITE, NODE].every(isThere)) return
  console.error(`conformance: cannot install ${wanted.join(' and ')} into ${folder}; it needs a registry`)
  process.exit(3)
}

/** Runs the suite's program and returns its exit code; what it prints goes to `log`. */
export function runSuite(args, { env = {}, log }) {
  return new Promise((resolve, reject) => {
    const child = spawn(node, [program, ...args], {
      stdio: ['ignore', log, log],
      env: { ...process.env, ...env },
    })
    child.on('error', reject)
    child.on('exit', (code) => resolve(code))
  })
}

/** What the suite left in a folder: scenario → check → its status, or statuses where a check was made more than once. */
export function readResults(results) {
  const scenarios = {}
  for (const name of existsSync(results) ? readdirSync(results).toSorted() : [])
    scenarios[scenarioOf(name)] = readChecks(join(results, name, 'checks.json'))
  return scenarios
}

function isThere({ name, version }) {
  const file = join(packages, name, 'package.json')
  return existsSync(file) && JSON.parse(readFileSync(file, 'utf8')).version === version
}

function scenarioOf(folderName) {
  return folderName.replace(/-\d{4}-\d\d-\d\dT[\d-]+Z$/, '')
}

/** Without the notes (INFO) on what the suite saw: they are no verdict, and their order is not fixed. */
function readChecks(file) {
  const checks = {}
  for (const { id, name, status } of existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : [])
    if (status !== 'INFO') (checks[`${id} ${name}`] ??= []).push(status)
  return Object.fromEntries(
    Object.entries(checks).map(([check, statuses]) => [check, statuses.toSorted().join(' ')]),
  )
}
