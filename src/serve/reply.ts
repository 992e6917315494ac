import type { RecordedMessage } from '../tape/turn.ts'
import type { Response } from '../protocol/message.ts'

/** Where an answer comes from: the tape, or what somebody else had to say. */
export type ReplySource = RecordedMessage | Response['outcome']

/** Takes the one answer to a live request; undefined when there will be none. `source` is where it comes from, as far as it is one. */
export type SendReply = (text: string | undefined, source?: ReplySource) => void

/** The answers to one live batch leave together, as one array, when the last of them is known. */
export function collectBatchReply(requests: number, reply: SendReply): SendReply {
  const answers: string[] = []
  let open = requests
  return (text) => {
    if (text !== undefined) answers.push(text)
    open--
    if (open === 0) reply(answers.length > 0 ? `[${answers.join(',')}]` : undefined)
  }
}
