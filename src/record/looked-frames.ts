import type { Direction } from '../wire/direction.ts'
import type { BodyOptions } from './http-bodies.ts'
import type { LookedLink, MessageLook } from './message-look.ts'

/** Frames of one body that are looked at first. What is left out counts as written: it is no raw line. */
export function lookedFrames(
  frames: BodyOptions['frames'],
  look: MessageLook,
  dir: Direction,
  link: LookedLink,
): BodyOptions['frames'] {
  return {
    message: (place, body) => {
      const isLeftOut = body.isWhole && !look.keeps(dir, Buffer.concat(body.parts).toString(), link)
      return isLeftOut || frames.message(place, body)
    },
    raw: (place, body, why, kind) => frames.raw(place, body, why, kind),
    redactedEvent: (event) => frames.redactedEvent(event),
  }
}
