import type { ErrorObject } from 'ajv'
import type { Ajv2020 } from 'ajv/dist/2020.js'
import { member } from '../../json/parse.ts'
import type { ToolDescriptions } from '../plan/tool-safety.ts'
import {
  isAsRecorded,
  type Judge,
  type JudgedAnswer,
  NO_FINDINGS,
  resultOfResponse,
  type StepFinding,
} from './judged-answer.ts'
import { passesSchema, createAjv, schemaErrorPath } from './schema-validation.ts'

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
    if (content === undefined) return [noContent()]
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

function noContent(): StepFinding {
  const message = 'the tool has an outputSchema, but its answer has no structured content'
  return { ...OWN, message, path: 'result.structuredContent' }
}

function asFinding(error: ErrorObject): StepFinding {
  const path = schemaErrorPath(['result', 'structuredContent'], error)
  return { ...OWN, message: `${error.message} (outputSchema)`, path }
}

const OWN = { layer: 'schema', source: 'outputSchema', level: 'error' } as const
