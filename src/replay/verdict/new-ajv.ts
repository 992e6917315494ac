import { createRequire } from 'node:module'
import type * as Ajv from 'ajv/dist/2020.js'

/** A validator for the schemas of strangers. Its code is loaded when the first one is needed: most runs need none. */
export function createAjv(): Ajv.Ajv2020 {
  const { Ajv2020 } = createRequire(import.meta.url)('ajv/dist/2020.js') as typeof Ajv
  return new Ajv2020({ strict: false, allErrors: true, verbose: true, logger: false, validateFormats: false })
}
