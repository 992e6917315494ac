import { Counterparts } from '../correlate/counterpart.ts'
import { Noise } from '../diff/noise.ts'
import { toolOf } from '../match/brief.ts'
import type { Tape } from '../store/read.ts'
import { keptSteps } from './kept-steps.ts'
import type { ReplayedTape } from './replayed-tape.ts'
import type { ReplayReport } from './report.ts'
import { outcomeIn } from './verdict/outcome-text.ts'

/** Noise is a matter of the method and the tool: two calls of one tool are noisy in the same places. */
export interface NoiseOfCall {
  readonly method: string
  readonly tool: string | undefined
  readonly noise: Noise
}

export type Noises = Map<string, NoiseOfCall>

/** What the live server was seen to say differently in several runs. What is as recorded in both of two is the same. */
export function noiseByCall(first: ReplayReport, others: readonly ReplayReport[]): Noises {
  const noises: Noises = new Map()
  const steps = keptSteps(first)
  for (const other of others) {
    const second = keptSteps(other)
    for (const { index } of steps.outcomes()) {
      if (steps.other(index) === undefined && second.other(index) === undefined) continue
      const step = steps.at(index)
      if (step !== undefined) learn(noises, step, step.answer, second.at(index)?.answer)
    }
  }
  return noises
}

/** What the recorded server said differently in a second recording. */
export function learnFromBaseline(noises: Noises, tape: ReplayedTape, baseline: Tape): void {
  const turns = [...tape.turns]
  const counterparts = new Counterparts(turns, baseline.turns)
  for (const [turn, { trigger, response }] of turns.entries()) {
    if (response === undefined || trigger?.message.kind !== 'request') continue
    const { message } = trigger
    const other = counterparts.of({
      turn,
      frame: response.n,
      ...(response.item !== undefined && { item: response.item }),
    })
    learn(noises, { method: message.method, tool: toolOf(message) }, response.text, other?.text)
  }
}

export function noiseKey({ method, tool }: Pick<NoiseOfCall, 'method' | 'tool'>): string {
  return JSON.stringify([method, tool])
}

function learn(
  noises: Noises,
  call: Pick<NoiseOfCall, 'method' | 'tool'>,
  one: string | undefined,
  other: string | undefined,
): void {
  if (one === undefined || other === undefined || one === other) return
  const { method, tool } = call
  const known = noises.get(noiseKey(call)) ?? { method, tool, noise: new Noise() }
  known.noise.learn(outcomeIn(one) ?? '', outcomeIn(other) ?? '')
  noises.set(noiseKey(call), known)
}
