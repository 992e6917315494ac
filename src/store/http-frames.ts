import { openTape, type Tape } from './file/read.ts'

/** What HTTP carried around the messages of a tape: heads, and events without a message. Nothing else of the tape is held. */
export async function readHttpFrames(path: string): Promise<Tape['rest']> {
  const frames: Tape['rest'][number][] = []
  const reader = await openTape(path)
  for await (const frame of reader.frames())
    if (frame.kind === 'http' || (frame.kind === 'event' && frame.event === 'sse')) frames.push(frame)
  return frames
}
