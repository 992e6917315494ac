import type { Binding } from '../bindings/binding.ts'
import { toBindingsFile } from '../bindings/bindings-file.ts'
import { escapeControlCharsInJson } from '../text.ts'

/** Bindings as a file to be edited and kept beside the tape. A place stays on one line, so that it can be searched for. */
export async function bindingsAsYaml(bindings: readonly Binding[]): Promise<string> {
  const { stringify } = await import('yaml')
  const yaml = stringify(toBindingsFile(bindings), {
    lineWidth: 0,
    defaultStringType: 'QUOTE_DOUBLE',
    defaultKeyType: 'PLAIN',
  })
  return yaml.split('\n').map(escapeControlCharsInJson).join('\n')
}
