import type { Direction } from '../wire/direction.ts'
import type { BodySinkOptions } from './http/bodies.ts'
import type { MessageOrigin, MessageFilter } from './message-filter.ts'

/** Frames of one body that are looked at first. What is left out counts as written: it is no raw line. */
export function filteredFrames(
  frames: BodySinkOptions['frames'],
  look: MessageFilter,
  dir: Direction,
  link: MessageOrigin,
): BodySinkOptions['frames'] {
  return {
    message: (place, body) => {
      const isLeftOut = body.isComplete && !look.keeps(dir, Buffer.concat(body.parts).toString(), link)
      return isLeftOut || frames.message(place, body)
    },
    raw: (place, body, why, kind) => frames.raw(place, body, why, kind),
    redactedEvent: (event) => frames.redactedEvent(event),
  }
}
