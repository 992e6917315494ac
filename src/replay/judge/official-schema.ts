import type { ErrorObject } from 'ajv'
import { member } from '../../json/parse.ts'
import type { Response, Notification, Request } from '../../protocol/message.ts'
import { kindOfError, schemaErrorPath, OfficialValidators } from './schema-validation.ts'
import {
  type Judge,
  NO_FINDINGS,
  type StepFinding,
  resultOfResponse,
  type JudgedAnswer,
  serverMessagesIn,
} from './judged-answer.ts'
import { linkNameOf } from '../plan/plan.ts'
import type { ProtocolRevisions } from '../session/peer.ts'
import type { Turn } from '../../tape/turns.ts'

/** When an invalid answer is a finding: if the recorded answer was valid, always, or never. */
export type OfficialSchemaUse = 'changed' | 'always' | 'off'

interface OfficialJudgeOptions {
  readonly use: OfficialSchemaUse
  readonly revisions: ProtocolRevisions
  readonly turns: Iterable<Turn>
  readonly onNote: (note: string) => void
}

/** Validates what the server sends by the official schema of its revision. */
export class OfficialSchemas {
  /** Looks at answers. */
  readonly answers: Judge
  /** Looks at messages that the server sends before its answer. */
  readonly messages: Judge

  constructor(options: OfficialJudgeOptions) {
    const validators = new OfficialValidators((revision) => options.onNote(missingSchemaNote(revision)))
    this.answers = new OfficialAnswerJudge(options, validators)
    this.messages = new OfficialMessageJudge(options, validators)
  }
}

/** Answers that were already invalid when they were recorded are reported in one note. */
class OfficialAnswerJudge implements Judge {
  readonly #options: OfficialJudgeOptions
  readonly #validators: OfficialValidators
  /** The tools that had an answer validated, by method. */
  readonly #validated = new Map<string, Set<string | undefined>>()
  readonly #noted = new Set<string>()

  constructor(options: OfficialJudgeOptions, validators: OfficialValidators) {
    this.#options = options
    this.#validators = validators
  }

  judge(judged: JudgedAnswer): readonly StepFinding[] {
    const { use, revisions } = this.#options
    const { turn, live, end } = judged
    if (use === 'off' || live === undefined) return NO_FINDINGS
    this.#noteRevision(judged)
    // An answer with the recorded bytes is as invalid as it was. One validation for each tool is enough to write the note.
    if (use === 'changed' && end.kind === 'answered' && end.asRecorded && this.#wasChecked(judged))
      return NO_FINDINGS
    const revision = revisions.live(turn)
    const broken = this.#validators.errorsInAnswer(live, answerContext(turn, revision))
    const found = broken.length === 0 || use === 'always' ? broken : this.#newErrors(judged, broken)
    return found.slice(0, MAX_ANSWER_FINDINGS).map((error) => answerFinding(error, live, revision))
  }

  #noteRevision({ turn, live }: JudgedAnswer): void {
    if (methodOf(turn) !== 'initialize') return
    const revision = member(resultOfResponse(live), 'protocolVersion')
    if (typeof revision === 'string') this.#options.revisions.setLive(linkNameOf(turn), revision)
  }

  #wasChecked(judged: JudgedAnswer): boolean {
    const method = methodOf(judged.turn)
    const tools = this.#validated.get(method) ?? new Set()
    if (tools.has(judged.tool)) return true
    this.#validated.set(method, tools.add(judged.tool))
    return false
  }

  /** Returns the errors that the recorded answer does not have, and notes the others. */
  #newErrors(judged: JudgedAnswer, broken: readonly ErrorObject[]): readonly ErrorObject[] {
    const { turn, recorded } = judged
    const revision = this.#options.revisions.recorded(turn)
    const before =
      recorded === undefined ? [] : this.#validators.errorsInAnswer(recorded, answerContext(turn, revision))
    const known = new Set(before.map(kindOfError))
    const old = broken.find((error) => known.has(kindOfError(error)))
    if (old !== undefined) this.#noteOnce(judged, old)
    return broken.filter((error) => !known.has(kindOfError(error)))
  }

  #noteOnce(judged: JudgedAnswer, error: ErrorObject): void {
    const name = callName(judged)
    if (this.#noted.has(name)) return
    this.#noted.add(name)
    const revision = this.#options.revisions.live(judged.turn)
    this.#options.onNote(
      `${name} breaks the official schema of ${revision}, as it did when it was recorded: ${errorPath(error, judged.live)} ${error.message}`,
    )
  }
}

/** The first errors of an answer are enough. */
const MAX_ANSWER_FINDINGS = 10

function missingSchemaNote(revision: string): string {
  return `the official schema of ${revision} is not part of this build of Reelay: answers are not validated by it`
}

function answerContext(
  turn: Turn,
  revision: string | undefined,
): { method: string; revision: string | undefined } {
  return { method: methodOf(turn), revision }
}

function methodOf({ trigger }: Turn): string {
  return trigger !== undefined && 'method' in trigger.message ? trigger.message.method : 'undefined'
}

function callName({ turn, tool }: JudgedAnswer): string {
  return tool === undefined ? methodOf(turn) : `${methodOf(turn)} ${tool}`
}

function answerFinding(error: ErrorObject, answer: Response, revision: string | undefined): StepFinding {
  const message = `${error.message} (official schema of ${revision})`
  return { layer: 'schema', source: 'official', level: 'error', message, path: errorPath(error, answer) }
}

function errorPath(error: ErrorObject, answer: Response | undefined): string {
  return schemaErrorPath(answer !== undefined && 'result' in answer.outcome ? ['result'] : [], error)
}

/** Validates notifications and requests of the server. Errors that occur anywhere on the tape are reported in one note. */
class OfficialMessageJudge implements Judge {
  readonly #options: OfficialJudgeOptions
  readonly #validators: OfficialValidators
  readonly #noted = new Set<string>()
  #recorded: ReadonlySet<string> | undefined

  constructor(options: OfficialJudgeOptions, validators: OfficialValidators) {
    this.#options = options
    this.#validators = validators
  }

  judge({ turn, asides }: JudgedAnswer): readonly StepFinding[] {
    if (this.#options.use === 'off' || asides.length === 0) return NO_FINDINGS
    const revision = this.#options.revisions.live(turn)
    const broken = new Map<string, BrokenMessage>()
    for (const { message } of asides)
      for (const error of this.#validators.errorsInMessage(message, revision))
        broken.set(describeViolation(message, error), { word: message, error })
    const found = [...broken].filter(([, one]) => this.#options.use === 'always' || this.#isNew(one))
    return found.slice(0, MAX_MESSAGE_FINDINGS).map(([words]) => messageFinding(words, revision))
  }

  #isNew({ word, error }: BrokenMessage): boolean {
    this.#recorded ??= new Set(this.#recordedErrors())
    if (!this.#recorded.has(violationKey(word, error))) return true
    this.#noteOnce(word.method, describeViolation(word, error))
    return false
  }

  *#recordedErrors(): Iterable<string> {
    for (const turn of this.#options.turns)
      for (const word of turn.steps.flatMap(serverMessagesIn))
        for (const error of this.#errorsOnTape(word, turn)) yield violationKey(word, error)
  }

  #errorsOnTape(word: Request | Notification, turn: Turn): readonly ErrorObject[] {
    return this.#validators.errorsInMessage(word, this.#options.revisions.recorded(turn))
  }

  #noteOnce(method: string, words: string): void {
    if (this.#noted.has(method)) return
    this.#noted.add(method)
    this.#options.onNote(`${words}, as it was when it was recorded (official schema)`)
  }
}

interface BrokenMessage {
  readonly word: Request | Notification
  readonly error: ErrorObject
}

/** The first errors of a call are enough. */
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
