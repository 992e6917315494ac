import type { Turn } from '../../tape/turn.ts'
import { isObject, type Request } from '../../wire/message.ts'
import type { Finding } from './finding.ts'
import type { Judging } from './judge.ts'
import type { Judged } from './judged.ts'
import { differsFor, EXACTLY } from './validation-rule.ts'
import { differenceFinding, type Explains } from './values.ts'
import { wordsOfServer } from './words-of-server.ts'

export interface QuestionsOptions {
  readonly judging: Judging
  readonly explains: Explains
  /** Whether the tape has no answer to a request of the server. */
  readonly isUnknown: (question: Request) => boolean
}

/** Whether the server asks what it asked, on the way to its answer. A question that stands anywhere on the tape is no other one: which call it belongs to, nothing says for certain. */
export class QuestionsJudge {
  readonly #options: QuestionsOptions
  readonly #differ: ReturnType<typeof differsFor>['kept']

  constructor(options: QuestionsOptions) {
    this.#options = options
    this.#differ = differsFor(EXACTLY.kind, options.judging).kept
  }

  judge({ turn, asides, moved }: Judged): readonly Finding[] {
    if (asides.length === 0) return []
    const asked = asides.flatMap(({ message }) => (message.kind === 'request' ? [message] : []))
    return asked
      .filter((question) => !moved.has(question.method) && this.#options.isUnknown(question))
      .flatMap((question) => this.#against(counterpart(question, asked, turn), question))
  }

  #against(recorded: Request | undefined, question: Request): readonly Finding[] {
    if (recorded === undefined) return [] // that it is new is a matter of the order
    const differences = this.#differ.values(subjectOf(recorded), subjectOf(question))
    return differences
      .filter(({ expected, actual, path }) => !this.#options.explains(expected, actual, path))
      .map(differenceFinding)
      .map((finding) => ({ ...finding, message: `of the request ${question.method} ${finding.message}` }))
  }
}

/** The one that was asked in its place: as many of the method before it. */
function counterpart(question: Request, asked: readonly Request[], { steps }: Turn): Request | undefined {
  const isLike = ({ method }: Request): boolean => method === question.method
  const words = steps.flatMap(wordsOfServer)
  const recorded = words.filter((word): word is Request => word.kind === 'request').filter(isLike)
  return recorded[asked.filter(isLike).indexOf(question)]
}

/** Without what differs from run to run, such as progress tokens. */
function subjectOf({ params }: Request): unknown {
  if (!isObject(params)) return {}
  const { _meta, ...content } = params
  return { params: content }
}
