/** Takes the one answer to a live request; undefined when there will be none. */
export type Reply = (text: string | undefined) => void

/** The answers to one live batch leave together, as one array, when the last of them is known. */
export function batchReply(requests: number, send: (text: string) => void): Reply {
  const answers: string[] = []
  let open = requests
  return (text) => {
    if (text !== undefined) answers.push(text)
    open--
    if (open === 0 && answers.length > 0) send(`[${answers.join(',')}]`)
  }
}
