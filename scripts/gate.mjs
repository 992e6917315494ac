// npm test: the whole gate, the same here as in CI. Tests come last, so that their count is the last line.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { build, installPrograms, installWhenNeeded, runTool } from './run.mjs'

const tool = (name, args) => () => runTool(name, args)
const steps = [
  { name: 'format', runStep: tool('oxfmt', ['--check', '.']) },
  { name: 'lint', runStep: tool('oxlint', ['--type-aware', '--deny-warnings']) },
  { name: 'types', runStep: tool('typescript', ['-p', 'tsconfig.json']) },
  { name: 'types of the page', runStep: tool('typescript', ['-p', 'ui/tsconfig.json']) },
  { name: 'build', runStep: build },
  { name: 'unused code', runStep: tool('knip', []) },
  { name: 'package shape', runStep: tool('publint', ['--strict']) },
  {
    name: 'package types',
    runStep: tool('@arethetypeswrong/cli', ['--pack', '.', '--profile', 'esm-only', '--quiet']),
  },
]

installWhenNeeded()
installPrograms(['tmux', 'zsh', 'fish', 'python3', 'chromium', 'redis-server', 'tcpdump', 'tshark']) // for the tests of completion in a terminal, of the HTML report, of load on several machines, and others
const failedSteps = []
for (const { name, runStep } of steps) {
  console.log(`> ${name}`)
  if ((await runStep()) !== 0) failedSteps.push(name)
}
const counts = runTests()
for (const name of failedSteps) console.log(`gate step failed: ${name}`)
const failed = counts.failed + failedSteps.length
console.log(`${counts.passed} passed, ${failed} failed, ${counts.skipped} skipped`)
process.exitCode = failed === 0 && counts.passed > 0 ? 0 : 1

function runTests() {
  console.log('> tests')
  const folder = mkdtempSync(join(tmpdir(), 'reelay-gate-'))
  const file = join(folder, 'counts.json')
  const env = { ...process.env, REELAY_BUILT: '1', REELAY_COUNTS: file }
  const status = runTool('vitest', ['run'], { env })
  const result = readCounts(file)
  rmSync(folder, { recursive: true })
  // A run that fails without a failed test (a crash, an unhandled rejection) is a failure all the same.
  return status !== 0 && result.failed === 0 ? { ...result, failed: 1 } : result
}

function readCounts(file) {
  try {
    return JSON.parse(readFileSync(file, 'utf8'))
  } catch {
    return { passed: 0, failed: 1, skipped: 0 } // the runner died before it could count
  }
}
