import type { Spoken } from '../tape/turn.ts'
import type { Response } from '../wire/message.ts'

/** Where an answer comes from: the tape, or what somebody else had to say. */
export type Source = Spoken | Response['outcome']

/** Takes the one answer to a live request; undefined when there will be none. `source` is where it comes from, as far as it is one. */
export type Reply = (text: string | undefined, source?: Source) => void

/** The answers to one live batch leave together, as one array, when the last of them is known. */
export function batchReply(requests: number, reply: Reply): Reply {
  const answers: string[] = []
  let open = requests
  return (text) => {
    if (text !== undefined) answers.push(text)
    open--
    if (open === 0) reply(answers.length > 0 ? `[${answers.join(',')}]` : undefined)
  }
}
