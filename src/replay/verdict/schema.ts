import type { Ajv2020 } from 'ajv/dist/2020.js'
import { member } from '../../wire/message.ts'
import type { Tools } from '../safety.ts'
import type { Finding } from './finding.ts'
import { resultIn, type Judged } from './judged.ts'

/** Whether structured content is what the tool's `outputSchema` promises. A schema that cannot be used is no verdict. */
export class SchemaJudge {
  readonly #tools: () => Tools
  readonly #ajv: Ajv2020
  readonly #validators = new Map<unknown, ReturnType<Ajv2020['compile']> | undefined>()

  private constructor(ajv: Ajv2020, tools: () => Tools) {
    this.#ajv = ajv
    this.#tools = tools
  }

  /** Loaded only when a run is to be judged. */
  static async create(tools: () => Tools): Promise<SchemaJudge> {
    const { Ajv2020: Ajv } = await import('ajv/dist/2020.js')
    return new SchemaJudge(
      new Ajv({ strict: false, allErrors: true, logger: false, validateFormats: false }),
      tools,
    )
  }

  judge({ tool, live }: Judged): readonly Finding[] {
    const result = resultIn(live)
    const schema = member(this.#tools().get(tool ?? ''), 'outputSchema')
    if (schema === undefined || result === undefined || member(result, 'isError') === true) return []
    const content = member(result, 'structuredContent')
    if (content === undefined) return [noContent()]
    const validate = this.#validatorFor(schema)
    if (validate === undefined || validate(content)) return []
    return (validate.errors ?? []).map(({ instancePath, message = 'does not fit' }) => ({
      layer: 'schema',
      level: 'error',
      message: `${message} (outputSchema)`,
      path: `result.structuredContent${instancePath.replaceAll('/', '.')}`,
    }))
  }

  #validatorFor(schema: unknown): ReturnType<Ajv2020['compile']> | undefined {
    if (this.#validators.has(schema)) return this.#validators.get(schema)
    const validate = this.#compiled(schema)
    this.#validators.set(schema, validate)
    return validate
  }

  #compiled(schema: unknown): ReturnType<Ajv2020['compile']> | undefined {
    try {
      return this.#ajv.compile(schema as object)
    } catch {
      return undefined // a schema of a stranger may be broken, or refer to what we do not have
    }
  }
}

function noContent(): Finding {
  const message = 'the tool has an outputSchema and answered without structured content'
  return { layer: 'schema', level: 'error', message, path: 'result.structuredContent' }
}
