import type { ErrorObject } from 'ajv'
import type { Ajv2020 } from 'ajv/dist/2020.js'
import { member, type Response } from '../../wire/message.ts'
import { JUDGED_BY, officialSchema } from '../official-schemas.ts'
import { OfficialDefinitions } from './official-definitions.ts'
import { isValid } from './is-valid.ts'
import { meantErrors } from './schema-errors.ts'

type Validator = ReturnType<Ajv2020['compile']>

/** Holds answers against the official schemas: each is read when it is first needed, and compiled once for each kind of answer. */
export class OfficialValidators {
  readonly #ajv: Ajv2020
  readonly #onAbsent: (revision: string) => void
  readonly #definitions = new Map<string, OfficialDefinitions | undefined>()
  readonly #validators = new Map<string, Validator | undefined>()

  constructor(ajv: Ajv2020, onAbsent: (revision: string) => void) {
    this.#ajv = ajv
    this.#onAbsent = onAbsent
  }

  /** What is wrong with an answer to a method, by the schema of a revision; nothing where that has no say. */
  errorsIn(answer: Response, asked: Asked): readonly ErrorObject[] {
    const definition = this.#definitionFor(answer, asked)
    return definition === undefined ? [] : this.#errorsBy(definition, subjectOf(answer))
  }

  /** Compiles what an answer will be held against. */
  prepare(answer: Response, asked: Asked): void {
    const definition = this.#definitionFor(answer, asked)
    if (definition !== undefined) this.#validatorOf(definition)
  }

  #definitionFor(answer: Response, { method, revision }: Asked): string | undefined {
    const official = JUDGED_BY[revision ?? '']
    const place = official === undefined ? undefined : this.#definitionsOf(official)?.for(method, answer)
    return official === undefined || place === undefined ? undefined : `${idOf(official)}${place}`
  }

  #errorsBy(definition: string, value: unknown): readonly ErrorObject[] {
    const validate = this.#validatorOf(definition)
    if (validate === undefined || isValid(validate, value)) return []
    const [schema = ''] = definition.split('#')
    return meantErrors(validate.errors ?? [], (reference, part) =>
      this.#errorsBy(`${schema}${reference}`, part),
    )
  }

  #validatorOf(definition: string): Validator | undefined {
    if (!this.#validators.has(definition)) this.#validators.set(definition, this.#ajv.getSchema(definition))
    return this.#validators.get(definition)
  }

  #definitionsOf(revision: string): OfficialDefinitions | undefined {
    if (!this.#definitions.has(revision)) this.#definitions.set(revision, this.#read(revision))
    return this.#definitions.get(revision)
  }

  #read(revision: string): OfficialDefinitions | undefined {
    const schema = officialSchema(revision)
    if (schema === undefined) {
      this.#onAbsent(revision)
      return undefined
    }
    // The words that the older ones use mean the same in either dialect.
    const words = Object.entries(schema).filter(([name]) => name !== '$schema')
    this.#ajv.addSchema({ ...Object.fromEntries(words), $id: idOf(revision) })
    return new OfficialDefinitions(schema)
  }
}

export interface Asked {
  readonly method: string
  readonly revision: string | undefined
}

/** An error is judged with the message around it, because the definition is of both. */
function subjectOf({ id, outcome }: Response): unknown {
  if ('result' in outcome) return outcome.result
  const error = member(outcome, 'error')
  return { jsonrpc: '2.0', ...(id !== null && { id }), error }
}

function idOf(revision: string): string {
  return `urn:reelay:mcp-${revision}`
}
