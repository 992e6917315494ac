import type { Ajv2020 } from 'ajv/dist/2020.js'

/** A validator for the schemas of strangers; loaded only when a run is to be judged. */
export async function loadAjv(): Promise<Ajv2020> {
  const { Ajv2020: Ajv } = await import('ajv/dist/2020.js')
  return new Ajv({ strict: false, allErrors: true, verbose: true, logger: false, validateFormats: false })
}
