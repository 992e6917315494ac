import type { ErrorObject } from 'ajv'
import { member, type Response, type Notification, type Request } from '../../protocol/message.ts'
import { kindOfError, schemaErrorPath } from './schema-validation.ts'
import {
  type Judge,
  NO_FINDINGS,
  type StepFinding,
  resultOfResponse,
  type JudgedAnswer,
  serverMessagesIn,
} from './judged-answer.ts'
import { OfficialValidators } from './schema-validation.ts'
import { linkNameOf } from '../plan/plan.ts'
import type { ProtocolRevisions } from '../session/peer.ts'
import type { Turn } from '../../tape/turn.ts'

/** Whether an answer that breaks the official schema is found only where the recorded one did not, always, or never. */
export type OfficialSchemaUse = 'changed' | 'always' | 'off'

interface OfficialJudgeOptions {
  readonly use: OfficialSchemaUse
  readonly revisions: ProtocolRevisions
  /** The whole recording. */
  readonly turns: Iterable<Turn>
  readonly onNote: (note: string) => void
}

/** Compare what the server sends with the official schema of its revision. */
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

/** An answer that already broke the schema when it was recorded is reported once, in a note. */
class OfficialAnswerJudge implements Judge {
  readonly #options: OfficialJudgeOptions
  readonly #validators: OfficialValidators
  /** By method, the tools of which an answer was looked at. */
  readonly #looked = new Map<string, Set<string | undefined>>()
  readonly #told = new Set<string>()

  constructor(options: OfficialJudgeOptions, validators: OfficialValidators) {
    this.#options = options
    this.#validators = validators
  }

  judge(judged: JudgedAnswer): readonly StepFinding[] {
    const { use, revisions } = this.#options
    const { turn, live, end } = judged
    if (use === 'off' || live === undefined) return NO_FINDINGS
    this.#noteRevision(judged)
    // The recorded bytes can only be broken as they were: to tell of that, one look at each tool is enough.
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
    const tools = this.#looked.get(method) ?? new Set()
    if (tools.has(judged.tool)) return true
    this.#looked.set(method, tools.add(judged.tool))
    return false
  }

  /** What is broken now and was not then; what was, is told. */
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
    if (this.#told.has(name)) return
    this.#told.add(name)
    const revision = this.#options.revisions.live(judged.turn)
    this.#options.onNote(
      `${name} breaks the official schema of ${revision}, as it did when it was recorded: ${errorPath(error, judged.live)} ${error.message}`,
    )
  }
}

/** Of an answer that is wrong all over, the first errors tell enough. */
const MAX_ANSWER_FINDINGS = 10

function missingSchemaNote(revision: string): string {
  return `the official schema of ${revision} does not come with this build of Reelay: no answer is held against it`
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

/** Whether notifications and requests on the way to an answer keep to the official schema. What was broken when it was recorded, wherever on the tape, is a note, and told once. */
class OfficialMessageJudge implements Judge {
  readonly #options: OfficialJudgeOptions
  readonly #validators: OfficialValidators
  readonly #told = new Set<string>()
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
