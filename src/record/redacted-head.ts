import type { Redactor } from '../redact/redactor.ts'
import type { HeaderList } from '../tape/frame.ts'
import type { RawHeaders } from '../http/headers.ts'

/** The headers as they go on the tape: all names as they were spelled, and the values without secrets. */
export function redactHeaderList(headers: RawHeaders, redactor: Redactor | undefined): HeaderList {
  const pairs: [string, string][] = []
  for (let at = 0; at + 1 < headers.length; at += 2) {
    const [name, value] = [headers[at]!, headers[at + 1]!]
    pairs.push([name, redactor?.header(name, value) ?? value])
  }
  return pairs
}
