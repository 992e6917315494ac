import { jsonValue } from '../json-text.ts'
import { escapeControlCharsInJson } from '../../text.ts'
import { countItems } from '../document.ts'
import type { DocumentFormat } from './format.ts'

/** One JSON object per line, as defined by `schema/report-line-1.json`: the report, its items, the end. */
export const ndjsonFormat: DocumentFormat = {
  name: 'ndjson',
  help: 'one JSON object per line, schema/report-line-1.json',
  *render({ items, ...document }) {
    yield line({ reelayReportLine: 1, kind: 'report', ...document })
    for (const item of items) yield line({ kind: 'item', ...item })
    yield line({ kind: 'end', verdict: document.verdict, counts: countItems(items) })
  },
}

function line(value: object): string {
  return `${escapeControlCharsInJson(jsonValue(value))}\n`
}
