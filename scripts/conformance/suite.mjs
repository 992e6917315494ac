// The official conformance suite: installed beside the project with the Node that it needs, run, and read.
import { spawn } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join, sep } from 'node:path'
import { pinned } from '../pinned.mjs'

export const SUITE = { name: '@modelcontextprotocol/conformance', version: '0.2.0-alpha.12' }

const { install, file, node } = pinned('reelay-conformance', [SUITE])
const program = file(SUITE.name, 'dist', 'index.js')

/** The Node of the suite: it heeds proxy variables, which the oldest that we support does not. */
export { install as installSuite, node as suiteNode }

/** Runs the suite's program, behind another one if told to, and returns its exit code; what it prints goes to `log`. */
export function runSuite(args, { behind = [], env = {}, log }) {
  const [command, ...rest] = [...behind, node, program, ...args]
  return new Promise((resolve, reject) => {
    const child = spawn(command, rest, { stdio: ['ignore', log, log], env: { ...process.env, ...env } })
    child.on('error', reject)
    child.on('exit', (code) => resolve(code))
  })
}

/** What the suite left in a folder: scenario → check → its status, or statuses where a check was made more than once. */
export function readResults(results) {
  const files = existsSync(results) ? readdirSync(results, { recursive: true }) : []
  const checks = files.filter((name) => name.endsWith(`${sep}checks.json`)).toSorted()
  return Object.fromEntries(checks.map((name) => [scenarioOf(name), readChecks(join(results, name))]))
}

function scenarioOf(name) {
  return dirname(name)
    .replaceAll(sep, '/')
    .replace(/-\d{4}-\d\d-\d\dT[\d-]+Z$/, '')
}

/** Without the notes (INFO) on what the suite saw: they are no verdict, and their order is not fixed. */
function readChecks(path) {
  const checks = {}
  for (const { id, name, status } of JSON.parse(readFileSync(path, 'utf8')))
    if (status !== 'INFO') (checks[`${id} ${name}`] ??= []).push(status)
  return Object.fromEntries(
    Object.entries(checks).map(([check, statuses]) => [check, statuses.toSorted().join(' ')]),
  )
}
