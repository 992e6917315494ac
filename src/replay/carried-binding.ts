import type { Binding, Standing } from '../correlate/binding.ts'
import { placeText, producerText } from '../correlate/place-text.ts'
import { hasFailed } from './failed.ts'
import type { StepResult } from './step-result.ts'

/** A binding, and what the run says about it. */
export interface CarriedBinding {
  /** As recorded, and as the live server made it up; undefined when it did not. */
  readonly value: string
  readonly live: string | undefined
  /** Places, as a bindings file writes them. */
  readonly from: string
  readonly to: readonly string[]
  /** `confirmed`: it was another value, and was taken; `constant`: it was the same one; `refuted`: what was recorded had to be sent. */
  readonly standing: Standing
}

/** The step of the message that stands in a frame of the tape. */
type StepAt = (frame: number) => StepResult | undefined

export function carriedBinding(binding: Binding, live: string | undefined, stepAt: StepAt): CarriedBinding {
  const { value, producer, consumers } = binding
  const standing = standingOf(binding, live, stepAt)
  return { value, live, from: producerText(producer), to: consumers.map(placeText), standing }
}

function standingOf(
  { value, consumers, standing }: Binding,
  live: string | undefined,
  stepAt: StepAt,
): Standing {
  if (standing === 'user' || live === undefined) return standing
  if (live === value) return 'constant'
  const using = consumers.flatMap(({ frame }) => stepAt(frame) ?? [])
  const isTaken = using.length > 0 && using.every((step) => step.state === 'done' && !hasFailed(step))
  return isTaken ? 'confirmed' : standing
}
