import type { Binding } from '../correlate/binding.ts'
import { bindingsAsFile } from '../correlate/bindings-file.ts'
import { visibleJson } from '../wire/visible.ts'

/** Bindings as a file to be edited and kept beside the tape. A place stays on one line, so that it can be searched for. */
export async function bindingsAsYaml(bindings: readonly Binding[]): Promise<string> {
  const { stringify } = await import('yaml')
  const yaml = stringify(bindingsAsFile(bindings), {
    lineWidth: 0,
    defaultStringType: 'QUOTE_DOUBLE',
    defaultKeyType: 'PLAIN',
  })
  return yaml.split('\n').map(visibleJson).join('\n')
}
