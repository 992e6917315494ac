import type { Notification, Request } from '../../protocol/message.ts'
import { type Judge, type JudgedAnswer, serverMessagesIn } from './judge.ts'
import { createRuleDiffer, EXACT_RULE, type JudgeOptions } from './comparison-rules.ts'
import { separateNoise } from '../../diff/noise/index.ts'
import type { IsLiveValue, SessionTimes } from '../../diff/noise/noise-kind.ts'
import { differenceFinding } from './values.ts'
import { observedRequest } from '../steps/observed-notifications.ts'
import { NO_FINDINGS, type StepFinding } from '../steps/step.ts'

interface ServerRequestJudgeOptions {
  readonly judging: JudgeOptions
  readonly isLiveValue: IsLiveValue
  readonly clock: SessionTimes
  /** Returns true for a request of the server that has no answer on the tape. */
  readonly isUnknown: (request: Request) => boolean
}

/**
 * Compares requests that the server sends before its answer with the recorded ones. A request that is anywhere on the tape is not
 * a difference, because it is not certain which call a request belongs to.
 */
export class ServerRequestJudge implements Judge {
  readonly #options: ServerRequestJudgeOptions
  readonly #differ: ReturnType<typeof createRuleDiffer>

  constructor(options: ServerRequestJudgeOptions) {
    this.#options = options
    this.#differ = createRuleDiffer(EXACT_RULE.kind, options.judging)
  }

  judge({ turn, asides, moved }: JudgedAnswer): readonly StepFinding[] {
    if (asides.length === 0) return NO_FINDINGS
    const recorded = turn.steps.flatMap(serverMessagesIn).filter(isServerRequest)
    if (recorded.length === 0) return NO_FINDINGS
    const counts = new Map<string, number>()
    return asides.flatMap(({ message }) => {
      if (!isServerRequest(message)) return []
      const { method } = message
      const place = counts.get(method) ?? 0
      counts.set(method, place + 1)
      // The nth live request of a method is compared with the nth recorded one.
      const then = recorded.filter((request) => request.method === method)[place]
      if (then === undefined || moved.has(method) || !this.#options.isUnknown(message)) return []
      return this.#compare(then, message, place)
    })
  }

  #compare(recorded: Request, request: Request, place: number): readonly StepFinding[] {
    const differences = this.#differ.values(observedRequest(recorded), observedRequest(request))
    const { isLiveValue, clock } = this.#options
    return separateNoise(differences, { differ: this.#differ, isLiveValue, clock }).kept.map((difference) => {
      const finding = differenceFinding(difference)
      const path = ['requests', request.method, place, ...difference.path]
      return {
        ...finding,
        message: `of the request ${request.method} ${finding.message}`,
        difference: { ...difference, path },
      }
    })
  }
}

function isServerRequest(message: Request | Notification): message is Request {
  return message.kind === 'request'
}
