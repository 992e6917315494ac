import type { Notification, Request } from '../../protocol/message.ts'
import { type Judge, type JudgedAnswer, serverMessagesIn } from './judge.ts'
import { createRuleDiffer, EXACT_RULE, type JudgeOptions } from './comparison-rules.ts'
import { separateNoise } from '../../diff/noise/index.ts'
import type { IsLiveValue } from '../../diff/noise/noise-kind.ts'
import { differenceFinding } from './values.ts'
import { NO_FINDINGS, type StepFinding } from '../steps/step.ts'
import { isObject } from '../../json/parse.ts'

interface ServerRequestJudgeOptions {
  readonly judging: JudgeOptions
  readonly isLiveValue: IsLiveValue
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
    const next = byMethod(recorded)
    return asides.flatMap(({ message }) => {
      if (!isServerRequest(message)) return []
      const then = next.get(message.method)?.next()
      if (then === undefined || then.done === true || moved.has(message.method)) return []
      return this.#options.isUnknown(message) ? this.#compare(then.value, message) : []
    })
  }

  #compare(recorded: Request, request: Request): readonly StepFinding[] {
    const differences = this.#differ.values(subjectOf(recorded), subjectOf(request))
    const { isLiveValue } = this.#options
    return separateNoise(differences, { differ: this.#differ, isLiveValue })
      .kept.map(differenceFinding)
      .map((finding) => ({ ...finding, message: `of the request ${request.method} ${finding.message}` }))
  }
}

function isServerRequest(message: Request | Notification): message is Request {
  return message.kind === 'request'
}

/** The recorded requests by method: the nth live request of a method is compared with the nth recorded one. */
function byMethod(requests: readonly Request[]): ReadonlyMap<string, Iterator<Request, undefined>> {
  const methods = new Set(requests.map(({ method }) => method))
  return new Map([...methods].map((one) => [one, requests.filter(({ method }) => method === one).values()]))
}

/** The params without `_meta`, which differs between runs. */
function subjectOf({ params }: Request): unknown {
  if (!isObject(params)) return {}
  const { _meta, ...content } = params
  return { params: content }
}
