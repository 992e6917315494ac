import { escapeControlChars } from '../../text.ts'
import { countItems, type ReportDocument, type ReportItem } from '../document.ts'
import { findingLine, reportPath, type DocumentFormat } from './format.ts'

/** JUnit XML, as CI servers read it: a suite for the report, a test case for each item. Warnings are in `system-out`. */
export const junitFormat: DocumentFormat = {
  name: 'junit',
  help: 'JUnit XML for CI servers',
  *render(document) {
    const { command, subject, items, duration = 0, started, summary } = document
    const { total, failed, skipped } = countItems(items)
    const name = `reelay ${command}`
    const counts = `tests="${total}" failures="${failed}" errors="0" skipped="${skipped}" time="${seconds(duration)}"`
    yield '<?xml version="1.0" encoding="UTF-8"?>\n'
    yield `<testsuites name="${xml(name)}" ${counts}>\n`
    yield `  <testsuite name="${xml(`${name}: ${subject}`)}" ${counts} timestamp="${xml((started ?? new Date().toISOString()).slice(0, 19))}">\n`
    yield `    <properties>\n      <property name="verdict" value="${document.verdict}"/>\n      <property name="summary" value="${xml(summary)}"/>\n    </properties>\n`
    for (const item of items) yield testCase(item, document)
    yield '  </testsuite>\n</testsuites>\n'
  },
}

function testCase(item: ReportItem, { command, file }: ReportDocument): string {
  const { name, group, status, line, duration = 0, findings, reason, reproduce } = item
  const place = line === undefined ? '' : ` line="${line}"`
  const head = `    <testcase name="${xml(name)}" classname="${xml(`reelay.${command.replaceAll(' ', '-')}.${group}`)}" file="${xml(reportPath(file))}"${place} time="${seconds(duration)}"`
  const lines = findings.map((found) => `${found.rule}: ${findingLine(found, 200)}`)
  const again = reproduce === undefined ? [] : [`reproduce: ${escapeControlChars(reproduce)}`]
  const text = xml([...lines, ...again].join('\n'), true)
  if (status === 'failed')
    return `${head}>\n      <failure message="${xml(lines[0] ?? reason ?? 'failed')}" type="${xml(findings[0]?.rule ?? 'failed')}">${text}</failure>\n    </testcase>\n`
  if (status === 'skipped')
    return `${head}>\n      <skipped message="${xml(reason ?? '')}"/>\n    </testcase>\n`
  if (findings.length > 0) return `${head}>\n      <system-out>${text}</system-out>\n    </testcase>\n`
  return `${head}/>\n`
}

function seconds(milliseconds: number): string {
  return (milliseconds / 1000).toFixed(3)
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&apos;',
}

/** XML cannot contain most control characters, not even as entities. They are shown as escapes. */
function xml(value: string, keepsLines = false): string {
  const lines = keepsLines ? value.split('\n') : [value]
  return lines
    .map((line) =>
      escapeControlChars(line)
        .replaceAll(/[\uFFFE\uFFFF]/g, '\uFFFD')
        .replaceAll(/[&<>"']/g, (char) => ENTITIES[char] ?? char),
    )
    .join('\n')
}
