import type { ReplayOptions } from '../../replay/options.ts'
import { onePart } from '../../replay/one-server.ts'
import { planFor } from '../../replay/prepare.ts'
import { toolsIn } from '../../replay/safety.ts'
import type { Planned } from '../../replay/plan.ts'
import type { Tape } from '../../store/read.ts'
import { visible } from '../../wire/visible.ts'
import { print } from '../print.ts'

/** Prints what would be sent, and what not and why, by what the tape says of the tools. */
export function showPlan(tape: Tape, options: Omit<ReplayOptions, 'target'>): void {
  const { turns } = onePart(tape, options.server)
  for (const planned of planFor(turns, options, toolsIn(turns))) print(`${visible(lineOf(planned))}\n`)
}

function lineOf({ turn, message, tool, fate, after }: Planned): string {
  const name = tool === undefined ? message.method : `${message.method} ${tool}`
  const head = `${fate.kind.padEnd(5)} ${`#${turn.trigger?.n}`.padStart(6)}  ${name}`
  if (fate.kind !== 'send') return `${head}   (${fate.why})`
  return after.length === 0
    ? head
    : `${head}   (after ${after.length} ${after.length === 1 ? 'answer' : 'answers'})`
}
