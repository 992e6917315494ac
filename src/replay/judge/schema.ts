import type { ErrorObject } from 'ajv'
import type { Ajv2020 } from 'ajv/dist/2020.js'
import type { Response, Notification, Request } from '../../protocol/message.ts'
import { NO_FINDINGS, type StepFinding } from '../steps/step.ts'
import {
  isAsRecorded,
  type Judge,
  type JudgedAnswer,
  methodOfTurn,
  resultOfResponse,
  serverMessagesIn,
} from './judge.ts'
import {
  passesSchema,
  createAjv,
  schemaErrorPath,
  kindOfError,
  OfficialValidators,
} from '../official-schemas.ts'
import { linkNameOf } from '../plan/plan.ts'
import type { ToolDescriptions } from '../plan/tool-safety.ts'
import type { ProtocolRevisions } from '../session/peer.ts'
import { member } from '../../json/parse.ts'
import type { Turn } from '../../tape/turns.ts'

/** Validates structured content by the tool's `outputSchema`. A schema that cannot be compiled is ignored. */
export class OutputSchemaJudge implements Judge {
  readonly #tools: ToolDescriptions
  #ajv: Ajv2020 | undefined
  readonly #validators = new Map<unknown, ReturnType<Ajv2020['compile']> | undefined>()

  constructor(tools: ToolDescriptions) {
    this.#tools = tools
  }

  judge(answer: JudgedAnswer): readonly StepFinding[] {
    if (isAsRecorded(answer)) return NO_FINDINGS
    const { tool, live } = answer
    const result = resultOfResponse(live)
    const schema = member(this.#tools.get(tool ?? ''), 'outputSchema')
    if (schema === undefined || result === undefined || member(result, 'isError') === true) return []
    const content = member(result, 'structuredContent')
    if (content === undefined) return [{ ...OWN, message: NO_CONTENT, path: 'result.structuredContent' }]
    const validate = this.#validatorFor(schema)
    if (validate === undefined || passesSchema(validate, content)) return []
    return (validate.errors ?? []).map(asFinding)
  }

  #validatorFor(schema: unknown): ReturnType<Ajv2020['compile']> | undefined {
    if (this.#validators.has(schema)) return this.#validators.get(schema)
    const validate = this.#compiled(schema)
    this.#validators.set(schema, validate)
    return validate
  }

  #compiled(schema: unknown): ReturnType<Ajv2020['compile']> | undefined {
    this.#ajv ??= createAjv()
    try {
      return this.#ajv.compile(schema as object)
    } catch {
      return undefined // the schema may be invalid, or refer to another one that is not available
    }
  }
}

const NO_CONTENT = 'the tool has an outputSchema, but its answer has no structured content'

function asFinding(error: ErrorObject): StepFinding {
  const path = schemaErrorPath(['result', 'structuredContent'], error)
  return { ...OWN, message: `${error.message} (outputSchema)`, path }
}

const OWN = { layer: 'schema', source: 'outputSchema', level: 'error' } as const

/** When an invalid answer is a finding: if the recorded answer was valid, always, or never. */
export type OfficialSchemaUse = 'changed' | 'always' | 'off'

interface OfficialJudgeOptions {
  readonly use: OfficialSchemaUse
  readonly revisions: ProtocolRevisions
  readonly turns: Iterable<Turn>
  readonly onNote: (note: string) => void
}

/** Two judges that use the official schema of the server's revision: one for answers, one for the messages before them. */
export function officialSchemaJudges(options: OfficialJudgeOptions): { answers: Judge; messages: Judge } {
  const validators = new OfficialValidators((revision) =>
    options.onNote(
      `the official schema of ${revision} is not part of this build of Reelay: answers are not validated by it`,
    ),
  )
  return {
    answers: new OfficialAnswerJudge(options, validators),
    messages: new OfficialMessageJudge(options, validators),
  }
}

/** Validates answers. Those that were already invalid when they were recorded are reported in one note. */
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
    const broken = this.#validators.errorsInAnswer(live, methodOfTurn(turn), revision)
    const found = broken.length === 0 || use === 'always' ? broken : this.#newErrors(judged, broken)
    return found.slice(0, MAX_FINDINGS).map((error) => answerFinding(error, live, revision))
  }

  #noteRevision({ turn, live }: JudgedAnswer): void {
    if (methodOfTurn(turn) !== 'initialize') return
    const revision = member(resultOfResponse(live), 'protocolVersion')
    if (typeof revision === 'string') this.#options.revisions.setLive(linkNameOf(turn), revision)
  }

  #wasChecked(judged: JudgedAnswer): boolean {
    const method = methodOfTurn(judged.turn)
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
      recorded === undefined ? [] : this.#validators.errorsInAnswer(recorded, methodOfTurn(turn), revision)
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

/** The first errors of a call are enough. */
const MAX_FINDINGS = 10

const OFFICIAL = { layer: 'schema', source: 'official', level: 'error' } as const

function callName({ turn, tool }: JudgedAnswer): string {
  return tool === undefined ? methodOfTurn(turn) : `${methodOfTurn(turn)} ${tool}`
}

function answerFinding(error: ErrorObject, answer: Response, revision: string | undefined): StepFinding {
  const message = `${error.message} (official schema of ${revision})`
  return { ...OFFICIAL, message, path: errorPath(error, answer) }
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
    const found = new Set<string>()
    for (const { message } of asides)
      for (const error of this.#validators.errorsInMessage(message, revision))
        if (this.#options.use === 'always' || this.#isNew(message, error))
          found.add(describeViolation(message, error))
    return [...found].slice(0, MAX_FINDINGS).map((violation) => ({
      ...OFFICIAL,
      message: `${violation} (official schema of ${revision})`,
    }))
  }

  #isNew(message: Request | Notification, error: ErrorObject): boolean {
    this.#recorded ??= new Set(this.#recordedErrors())
    if (!this.#recorded.has(violationKey(message, error))) return true
    if (!this.#noted.has(message.method))
      this.#options.onNote(
        `${describeViolation(message, error)}, as it was when it was recorded (official schema)`,
      )
    this.#noted.add(message.method)
    return false
  }

  *#recordedErrors(): Iterable<string> {
    const { turns, revisions } = this.#options
    for (const turn of turns)
      for (const message of turn.steps.flatMap(serverMessagesIn))
        for (const error of this.#validators.errorsInMessage(message, revisions.recorded(turn)))
          yield violationKey(message, error)
  }
}

function violationKey({ method }: Request | Notification, error: ErrorObject): string {
  return `${method} ${kindOfError(error)}`
}

function describeViolation({ method }: Request | Notification, error: ErrorObject): string {
  return `${method} of the server: ${schemaErrorPath([], error)} ${error.message}`
}
