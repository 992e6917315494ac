// A tape replayed one message at a time, with and without breakpoints that are armed but never hit.
import { join } from 'node:path'
import { commandTarget, loadTape, replay, ReplayController } from '../dist/index.js'
import { compile, goal, interleave, median, scratch } from './measure.mjs'
import { writeTape } from './replay/tape.mjs'

const CALLS = 8000
const COLD_RUNS = 2

const VARIANTS = {
  'no breakpoint': [],
  'on a tool': [{ filter: 'tool:other' }],
  'on a value of the response': [{ filter: 'result.structuredContent.total > 100' }],
  'on a text, a value of the request, an outcome and a difference': [
    { filter: 'params.arguments.n < 0' },
    { filter: '"no such text" kind:response' },
    { filter: 'status:error' },
    { difference: true },
  ],
}

export async function debugBench({ rounds }) {
  const tape = await loadTape(writeTape(join(scratch, 'debug.tape.jsonl'), CALLS))
  const target = commandTarget([compile('trivial')])
  const run = async (breakpoints) => {
    const controller = new ReplayController()
    for (const breakpoint of breakpoints) controller.addBreakpoint(breakpoint)
    const began = performance.now()
    const { summary } = await replay(tape, { target, controller, ordering: { kind: 'sequential' } }).report
    if (summary.verdict !== 'pass') throw new Error(`the replay found ${summary.verdict}`)
    return ((performance.now() - began) / CALLS) * 1000
  }
  for (let cold = 0; cold < COLD_RUNS; cold++)
    for (const variant of Object.values(VARIANTS)) await run(variant)
  const results = await interleave(rounds, VARIANTS, run)
  console.log(`\ndebug: ${CALLS} calls one after the other, with breakpoints that are not hit`)
  for (const [name, times] of Object.entries(results))
    console.log(`  ${name.padEnd(66)} ${median(times).toFixed(1)} us a message`)
  // Each round is compared with itself, because the machine is not equally fast all the time.
  const added = (name) => median(results[name].map((time, round) => time - results['no breakpoint'][round]))
  return Object.keys(VARIANTS)
    .slice(1)
    .map((name) => goal(`an armed breakpoint ${name} adds, in us a message`, added(name), 20, 'at most'))
}
