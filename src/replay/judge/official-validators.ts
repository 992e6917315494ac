import type { ErrorObject } from 'ajv'
import type { Ajv2020 } from 'ajv/dist/2020.js'
import type { Notification, Request, Response } from '../../protocol/message.ts'
import { SCHEMA_REVISIONS, officialSchema, type OfficialSchema } from '../official-schemas.ts'
import { passesSchema } from '../verdict/is-valid.ts'
import { createAjv } from '../verdict/new-ajv.ts'
import { OfficialDefinitions } from '../verdict/official-definitions.ts'
import { intendedErrors } from './json-schema.ts'

/** Holds what a server says against the official schemas. Each is read when it is first needed, and compiled only to say what is wrong. */
export class OfficialValidators {
  readonly #onAbsent: (revision: string) => void
  readonly #known = new Map<string, LoadedSchema | undefined>()

  constructor(onAbsent: (revision: string) => void) {
    this.#onAbsent = onAbsent
  }

  /** What is wrong with an answer to a method, by the schema of a revision; nothing where that has no say. */
  errorsInAnswer(answer: Response, { method, revision }: AnswerContext): readonly ErrorObject[] {
    const known = this.#knownFor(revision)
    const name = known?.definitions.answerDefinition(method, answer)
    if (known === undefined || name === undefined) return []
    return errorsOf(known, {
      name,
      validator: known.official.answerValidators[name],
      value: subjectOf(answer),
    })
  }

  /** The same of a notification or a request of the server. */
  errorsInMessage(word: Request | Notification, revision: AnswerContext['revision']): readonly ErrorObject[] {
    const known = this.#knownFor(revision)
    const name = known?.definitions.messageDefinition(word.method)
    if (known === undefined || name === undefined) return []
    return errorsOf(known, {
      name,
      validator: known.official.messageValidators()[name],
      value: messageOf(word),
    })
  }

  #knownFor(revision: string | undefined): LoadedSchema | undefined {
    const official = SCHEMA_REVISIONS.get(revision)
    return official === undefined ? undefined : this.#schemaOf(official)
  }

  #schemaOf(revision: string): LoadedSchema | undefined {
    if (!this.#known.has(revision)) this.#known.set(revision, this.#read(revision))
    return this.#known.get(revision)
  }

  #read(revision: string): LoadedSchema | undefined {
    const official = officialSchema(revision)
    if (official === undefined) this.#onAbsent(revision)
    return official && { official, definitions: new OfficialDefinitions(official.schema), ajv: undefined }
  }
}

export interface AnswerContext {
  readonly method: string
  readonly revision: string | undefined
}

interface LoadedSchema {
  readonly official: OfficialSchema
  readonly definitions: OfficialDefinitions
  ajv: Ajv2020 | undefined
}

interface Subject {
  /** Of the definition. */
  readonly name: string
  readonly validator: ((value: unknown) => boolean) | undefined
  readonly value: unknown
}

function errorsOf(known: LoadedSchema, { name, validator, value }: Subject): readonly ErrorObject[] {
  if (validator === undefined || passesSchema(validator, value)) return []
  known.ajv ??= ajvWith(known.official)
  return errorsBy(known.ajv, known.definitions.pointerTo(name), value)
}

function messageOf({ method, params, ...word }: Request | Notification): unknown {
  const id = word.kind === 'request' ? { id: word.id } : {}
  return { jsonrpc: '2.0', ...id, method, ...(params !== undefined && { params }) }
}

/** An error is judged with the message around it, because the definition is of both. */
function subjectOf({ id, outcome }: Response): unknown {
  return 'result' in outcome ? outcome.result : { jsonrpc: '2.0', ...(id !== null && { id }), ...outcome }
}

const ID = 'urn:reelay:official'

/** To check a schema costs more than to use it, and the official ones are no surprise. */
const IS_CHECKED = false

function ajvWith({ schema }: OfficialSchema): Ajv2020 {
  // The words that the older ones use mean the same in either dialect.
  const words = Object.entries(schema).filter(([name]) => name !== '$schema')
  const known = { ...Object.fromEntries(words), $id: ID }
  return createAjv().addSchema(known, undefined, undefined, IS_CHECKED)
}

function errorsBy(ajv: Ajv2020, pointer: string, value: unknown): readonly ErrorObject[] {
  const validate = ajv.getSchema(`${ID}${pointer}`)
  if (validate === undefined || passesSchema(validate, value)) return []
  return intendedErrors(validate.errors ?? [], (reference, part) => errorsBy(ajv, reference, part))
}
