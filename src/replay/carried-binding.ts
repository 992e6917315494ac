import type { Binding, BindingStatus } from '../bindings/binding.ts'
import { formatTapeLocation, formatProducer } from '../correlate/place-text.ts'

/** A binding, and what the run says about it. */
export interface CarriedBinding {
  /** As recorded, and as the live server made it up; undefined when it did not. */
  readonly value: string
  readonly live: string | undefined
  /** Places, as a bindings file writes them. */
  readonly from: string
  readonly to: readonly string[]
  /** `confirmed`: it was another value, and was taken; `constant`: it was the same one; `refuted`: what was recorded had to be sent. */
  readonly standing: BindingStatus
}

/** Whether the message that stands in a frame of the tape was answered as it should be; undefined when it had no turn. */
type HasPassedAt = (frame: number) => boolean | undefined

export function carriedBinding(
  binding: Binding,
  live: string | undefined,
  isGoodAt: HasPassedAt,
): CarriedBinding {
  const { value, producer, consumers } = binding
  const standing = standingOf(binding, live, isGoodAt)
  return { value, live, from: formatProducer(producer), to: consumers.map(formatTapeLocation), standing }
}

function standingOf(
  { value, consumers, standing }: Binding,
  live: string | undefined,
  isGoodAt: HasPassedAt,
): BindingStatus {
  if (standing === 'user' || live === undefined) return standing
  if (live === value) return 'constant'
  const using = consumers.flatMap(({ frame }) => isGoodAt(frame) ?? [])
  const isTaken = using.length > 0 && using.every((isGood) => isGood)
  return isTaken ? 'confirmed' : standing
}
