import type { StepResult } from '../replay/step-result.ts'
import { member } from '../wire/message.ts'
import { valueOf } from './spared.ts'

/** All that was sent and answered in a run, in its order, in the field names of session files that security testers know. */
export function saidMessages(steps: readonly StepResult[]): readonly object[] {
  return steps
    .flatMap(saidIn)
    .toSorted((a, b) => a.at - b.at)
    .map(({ name, said }, sequence) => ({ proxy_id: name, sequence, ...said }))
}

/** A message with the name of the frame of the tape that it stands for, and the milliseconds of the run at which it was said. */
interface Said {
  readonly at: number
  readonly name: string
  readonly said: object
}

function saidIn({ frame, method, sent, answer, sentAt = 0, duration = 0 }: StepResult): readonly Said[] {
  if (sent === undefined) return []
  const name = `frame-${frame}`
  const request = messageOf('client_to_server', sent, { method, correlated_id: null })
  const asked = { at: sentAt, name, said: request }
  if (answer === undefined) return [asked]
  const response = messageOf('server_to_client', answer, { method: null, correlated_id: name })
  return [asked, { at: sentAt + duration, name: `${name}-answer`, said: response }]
}

function messageOf(
  direction: 'client_to_server' | 'server_to_client',
  text: string,
  about: { readonly method: string | null; readonly correlated_id: string | null },
): object {
  const payload = valueOf(text)
  return { direction, jsonrpc_id: member(payload, 'id') ?? null, ...about, payload }
}
