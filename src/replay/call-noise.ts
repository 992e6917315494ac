import { MessageCounterparts } from '../correlate/counterpart.ts'
import { LearnedNoise } from '../diff/noise.ts'
import { calledTool } from '../match/describe-request.ts'
import type { Tape } from '../store/file/read.ts'
import { stepsOf } from './kept-steps.ts'
import type { ReplayedTape } from './replayed-tape.ts'
import type { ReplayReport } from './report.ts'
import { outcomeText } from './verdict/outcome-text.ts'

/** Noise is a matter of the method and the tool: two calls of one tool are noisy in the same places. */
export interface CallNoise {
  readonly method: string
  readonly tool: string | undefined
  readonly noise: LearnedNoise
}

export type CallNoiseMap = Map<string, CallNoise>

/** What the live server was seen to say differently in several runs. What is as recorded in both of two is the same. */
export function learnNoiseFromRuns(first: ReplayReport, others: readonly ReplayReport[]): CallNoiseMap {
  const noises: CallNoiseMap = new Map()
  const steps = stepsOf(first)
  for (const other of others) {
    const second = stepsOf(other)
    for (const { index } of steps.outcomes()) {
      if (steps.notableAt(index) === undefined && second.notableAt(index) === undefined) continue
      const step = steps.at(index)
      if (step !== undefined) learnCallNoise(noises, step, step.answer, second.at(index)?.answer)
    }
  }
  return noises
}

/** What the recorded server said differently in a second recording. */
export function learnNoiseFromBaseline(noises: CallNoiseMap, tape: ReplayedTape, baseline: Tape): void {
  const turns = [...tape.turns]
  const counterparts = new MessageCounterparts(turns, baseline.turns)
  for (const [turn, { trigger, response }] of turns.entries()) {
    if (response === undefined || trigger?.message.kind !== 'request') continue
    const { message } = trigger
    const other = counterparts.find({
      turn,
      frame: response.n,
      ...(response.item !== undefined && { item: response.item }),
    })
    learnCallNoise(noises, { method: message.method, tool: calledTool(message) }, response.text, other?.text)
  }
}

export function noiseKey({ method, tool }: Pick<CallNoise, 'method' | 'tool'>): string {
  return JSON.stringify([method, tool])
}

function learnCallNoise(
  noises: CallNoiseMap,
  call: Pick<CallNoise, 'method' | 'tool'>,
  one: string | undefined,
  other: string | undefined,
): void {
  if (one === undefined || other === undefined || one === other) return
  const { method, tool } = call
  const known = noises.get(noiseKey(call)) ?? { method, tool, noise: new LearnedNoise() }
  known.noise.learn(outcomeText(one) ?? '', outcomeText(other) ?? '')
  noises.set(noiseKey(call), known)
}
