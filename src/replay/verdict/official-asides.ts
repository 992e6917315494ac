import type { ErrorObject } from 'ajv'
import type { Turn } from '../../tape/turn.ts'
import type { Notification, Request } from '../../protocol/message.ts'
import type { StepFinding } from './finding.ts'
import type { JudgedAnswer } from '../judge/judged-answer.ts'
import type { OfficialJudgeOptions } from '../judge/official-schema.ts'
import type { OfficialValidators } from '../judge/official-validators.ts'
import { kindOfError, schemaErrorPath } from '../judge/json-schema.ts'
import { serverMessagesIn } from './words-of-server.ts'

/** Whether notifications and requests on the way to an answer keep to the official schema. What was broken when it was recorded, wherever on the tape, is a note, and told once. */
export class OfficialMessageJudge {
  readonly #options: OfficialJudgeOptions
  readonly #validators: OfficialValidators
  readonly #told = new Set<string>()
  #recorded: ReadonlySet<string> | undefined

  constructor(options: OfficialJudgeOptions, validators: OfficialValidators) {
    this.#options = options
    this.#validators = validators
  }

  judge({ turn, asides }: JudgedAnswer): readonly StepFinding[] {
    if (this.#options.use === 'off' || asides.length === 0) return []
    const revision = this.#options.revisions.live(turn)
    const broken = new Map<string, BrokenMessage>()
    for (const { message } of asides)
      for (const error of this.#validators.errorsInMessage(message, revision))
        broken.set(describeViolation(message, error), { word: message, error })
    const found = [...broken].filter(([, one]) => this.#options.use === 'always' || this.#isNew(one))
    return found.slice(0, MAX_MESSAGE_FINDINGS).map(([words]) => messageFinding(words, revision))
  }

  #isNew({ word, error }: BrokenMessage): boolean {
    this.#recorded ??= new Set(this.#brokenThen())
    if (!this.#recorded.has(violationKey(word, error))) return true
    this.#noteOnce(word.method, describeViolation(word, error))
    return false
  }

  *#brokenThen(): Iterable<string> {
    for (const turn of this.#options.turns)
      for (const word of turn.steps.flatMap(serverMessagesIn))
        for (const error of this.#errorsThen(word, turn)) yield violationKey(word, error)
  }

  #errorsThen(word: Request | Notification, turn: Turn): readonly ErrorObject[] {
    return this.#validators.errorsInMessage(word, this.#options.revisions.recorded(turn))
  }

  #noteOnce(method: string, words: string): void {
    if (this.#told.has(method)) return
    this.#told.add(method)
    this.#options.onNote(`${words}, as it was when it was recorded (official schema)`)
  }
}

interface BrokenMessage {
  readonly word: Request | Notification
  readonly error: ErrorObject
}

/** Of a server that is wrong all over, the first errors tell enough. */
const MAX_MESSAGE_FINDINGS = 10

function violationKey({ method }: Request | Notification, error: ErrorObject): string {
  return `${method} ${kindOfError(error)}`
}

function describeViolation({ method }: Request | Notification, error: ErrorObject): string {
  return `${method} of the server: ${schemaErrorPath([], error)} ${error.message}`
}

function messageFinding(words: string, revision: string | undefined): StepFinding {
  return {
    layer: 'schema',
    source: 'official',
    level: 'error',
    message: `${words} (official schema of ${revision})`,
  }
}
