import { writeFileSync } from 'node:fs'
import type { Reporter, TestModule } from 'vitest/node'

/** Counts tests for the gate, which prints the closing line; alone it prints that line itself. */
export default class CiSummary implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    const tests = modules.flatMap((module) => [...module.children.allTests()])
    const count = (state: string): number => tests.filter((test) => test.result().state === state).length
    const counts = { passed: count('passed'), failed: count('failed'), skipped: count('skipped') }
    const file = process.env['REELAY_COUNTS']
    if (file !== undefined) writeFileSync(file, JSON.stringify(counts))
    else console.log(`${counts.passed} passed, ${counts.failed} failed, ${counts.skipped} skipped`)
  }
}
