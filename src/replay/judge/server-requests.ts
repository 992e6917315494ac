import { isObject, type Notification, type Request } from '../../protocol/message.ts'
import {
  type Judge,
  type JudgedAnswer,
  NO_FINDINGS,
  serverMessagesIn,
  type StepFinding,
} from './judged-answer.ts'
import { createRuleDiffers, EXACT_RULE, type JudgeOptions } from './comparison-rules.ts'
import { separateNoise } from '../../diff/noise/index.ts'
import type { IsLiveValue } from '../../diff/noise/noise-kind.ts'
import { differenceFinding } from './values.ts'

interface ServerRequestJudgeOptions {
  readonly judging: JudgeOptions
  readonly isLiveValue: IsLiveValue
  /** Whether the tape has no answer to a request of the server. */
  readonly isUnknown: (question: Request) => boolean
}

/** Whether the server asks what it asked, on the way to its answer. A question that stands anywhere on the tape is no other one: which call it belongs to, nothing says for certain. */
export class ServerRequestJudge implements Judge {
  readonly #options: ServerRequestJudgeOptions
  readonly #differ: ReturnType<typeof createRuleDiffers>['kept']

  constructor(options: ServerRequestJudgeOptions) {
    this.#options = options
    this.#differ = createRuleDiffers(EXACT_RULE.kind, options.judging).kept
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
      return this.#options.isUnknown(message) ? this.#against(then.value, message) : []
    })
  }

  #against(recorded: Request, question: Request): readonly StepFinding[] {
    const differences = this.#differ.values(subjectOf(recorded), subjectOf(question))
    const { isLiveValue } = this.#options
    return separateNoise(differences, { differ: this.#differ, isLiveValue })
      .kept.map(differenceFinding)
      .map((finding) => ({ ...finding, message: `of the request ${question.method} ${finding.message}` }))
  }
}

function isServerRequest(word: Request | Notification): word is Request {
  return word.kind === 'request'
}

/** Each question has the one that was asked in its place: as many of the method came before it. */
function byMethod(questions: readonly Request[]): ReadonlyMap<string, Iterator<Request, undefined>> {
  const methods = new Set(questions.map(({ method }) => method))
  return new Map([...methods].map((one) => [one, questions.filter(({ method }) => method === one).values()]))
}

/** Without what differs from run to run, such as progress tokens. */
function subjectOf({ params }: Request): unknown {
  if (!isObject(params)) return {}
  const { _meta, ...content } = params
  return { params: content }
}
