import { escapeControlChars, escapeControlCharsInJson } from '../../text.ts'
import { VERSION } from '../../version.ts'
import { countItems, type ReportDocument, type ReportItem } from '../document.ts'
import { findingLine, reportPath, type DocumentFormat } from './format.ts'

/** The Common Test Report Format, which test dashboards read. */
export const ctrfFormat: DocumentFormat = {
  name: 'ctrf',
  help: 'Common Test Report Format for test dashboards',
  *render(document) {
    const { items, started, duration = 0, command, subject, verdict } = document
    const { total, passed, failed, warned, skipped } = countItems(items)
    const start = started === undefined ? Math.round(Date.now() - duration) : Date.parse(started)
    const summary = {
      tests: total,
      passed: passed + warned,
      failed,
      pending: 0,
      skipped,
      other: 0,
      start,
      stop: start + Math.round(duration),
      duration: Math.round(duration),
    }
    yield `{\n  "reportFormat": "CTRF",\n  "specVersion": "0.0.0",\n  "generatedBy": ${json(`reelay ${VERSION}`)},\n  "results": {\n`
    yield `    "tool": ${json({ name: 'reelay', version: VERSION, extra: { command, subject, verdict } })},\n`
    yield `    "summary": ${json(summary)},\n    "tests": [`
    let before = ''
    for (const item of items) {
      yield `${before}\n      ${json(testObject(item, document))}`
      before = ','
    }
    yield '\n    ]\n  }\n}\n'
  },
}

function testObject(item: ReportItem, { file }: ReportDocument): object {
  const { name, group, status, line, duration = 0, findings, reason, reproduce } = item
  const lines = findings.map((found) => `${found.rule}: ${findingLine(found, 200)}`)
  const message = lines[0] ?? reason
  return {
    name: escapeControlChars(name) || '(no name)',
    status: status === 'warned' ? 'passed' : status,
    duration: Math.round(duration),
    suite: [escapeControlChars(group) || '(none)'],
    filePath: reportPath(file),
    ...(line !== undefined && { line }),
    ...(message !== undefined && { message }),
    ...(lines.length > 1 && { trace: lines.join('\n') }),
    ...(status === 'warned' && { rawStatus: 'warned' }),
    extra: {
      ...(reproduce !== undefined && { reproduce }),
      rules: findings.map(({ rule }) => rule),
      fingerprints: findings.map(({ fingerprint }) => fingerprint),
    },
  }
}

function json(value: unknown): string {
  return escapeControlCharsInJson(JSON.stringify(value))
}
