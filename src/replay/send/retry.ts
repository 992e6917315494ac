import type { ReplayStep } from '../steps/step.ts'
import { resendRequest, type SendContext, sendMessage, type SentMessage } from './send-message.ts'

export interface RetryOptions {
  /** How often a request is sent again at most. */
  readonly maxRetries: number
  /** Milliseconds between two attempts. */
  readonly retryDelay: number
  /** Whether a request without an answer is sent again. */
  readonly retriesLost: boolean
}

export interface JudgedMessage {
  readonly sent: SentMessage
  readonly step: ReplayStep
}

/** Sends a message and judges it. A request is sent again while its judgement asks for that. */
export async function sendAndJudge(
  planned: SentMessage['planned'],
  run: SendContext & RetryOptions,
  judge: (sent: SentMessage) => ReplayStep,
): Promise<JudgedMessage> {
  let sent = await sendMessage(planned, run)
  let step = judge(sent)
  while (sent.kind === 'requested' && shouldRetry(step, run)) {
    if (!(await run.controller.wait(run.retryDelay))) break
    const next = await resendRequest(sent, run)
    if (next.kind === 'unsent') break // the run was stopped: the last attempt counts
    sent = next
    step = judge(sent)
  }
  return { sent, step }
}

function shouldRetry(
  { state, findings, retries }: ReplayStep,
  { maxRetries, retriesLost }: RetryOptions,
): boolean {
  if (retries >= maxRetries) return false
  const isLost = state === 'timeout' || state === 'lost'
  return (retriesLost && isLost) || findings.some(({ retry }) => retry === true)
}
