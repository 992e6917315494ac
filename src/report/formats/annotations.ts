import { escapeControlChars, escapeControlCharsInJson, truncateText } from '../../text.ts'
import { notableItems } from '../document.ts'
import { findingLine, reportPath, type DocumentFormat } from './format.ts'

/** Workflow commands of GitHub Actions, which become annotations of a commit. */
export const githubFormat: DocumentFormat = {
  name: 'github',
  help: 'annotations of GitHub Actions',
  *render({ items, file, command, summary, verdict }) {
    const path = reportPath(file)
    for (const { name, line = 1, findings } of notableItems(items))
      for (const found of findings) {
        const kind = found.severity === 'note' ? 'notice' : found.severity
        const place = [
          ...(path.startsWith('file:') ? [] : [`file=${property(path)}`, `line=${line}`]),
          `title=${property(found.rule)}`,
        ].join(',')
        yield `::${kind} ${place}::${data(`${name}: ${findingLine(found, 200)}`)}\n`
      }
    const kind = verdict === 'fail' ? 'error' : 'notice'
    yield `::${kind} title=${property(`reelay ${command}`)}::${data(summary)}\n`
  },
}

/** A line that begins with `::` would be another command, so a message must not contain line breaks. */
function data(text: string): string {
  return escapeControlChars(text).replaceAll('%', '%25')
}

function property(text: string): string {
  return data(text).replaceAll(':', '%3A').replaceAll(',', '%2C')
}

const GITLAB_SEVERITIES = { error: 'major', warning: 'minor', note: 'info' } as const

/** The code quality report of GitLab, which merge requests show. */
export const gitlabFormat: DocumentFormat = {
  name: 'gitlab',
  help: 'code quality report of GitLab',
  *render({ items, file }) {
    const seen = new Map<string, number>()
    let before = '['
    for (const { name, line = 1, findings } of items)
      for (const found of findings) {
        // GitLab drops a finding whose fingerprint it has seen, so equal ones are numbered.
        const count = (seen.get(found.fingerprint) ?? 0) + 1
        seen.set(found.fingerprint, count)
        const issue = {
          description: `${truncateText(name, 200)}: ${findingLine(found, 200)}`,
          check_name: found.rule,
          fingerprint: count === 1 ? found.fingerprint : `${found.fingerprint}-${count}`,
          severity: GITLAB_SEVERITIES[found.severity],
          location: { path: reportPath(file), lines: { begin: line } },
        }
        yield `${before}\n  ${escapeControlCharsInJson(JSON.stringify(issue))}`
        before = ','
      }
    yield before === '[' ? '[]\n' : '\n]\n'
  },
}

/** Test Anything Protocol, version 14. Diagnostics are YAML, in which JSON strings are valid. */
export const tapFormat: DocumentFormat = {
  name: 'tap',
  help: 'Test Anything Protocol 14',
  *render({ items, summary, notes }) {
    yield 'TAP version 14\n'
    let number = 0
    for (const { name, status, findings, reason, reproduce, duration } of items) {
      const skip = status === 'skipped' ? ` # SKIP ${tapText(reason ?? '')}` : ''
      yield `${status === 'failed' ? 'not ok' : 'ok'} ${++number} - ${tapText(name)}${skip}\n`
      if (findings.length === 0) continue
      const lines = [
        '---',
        ...(duration === undefined ? [] : [`duration_ms: ${duration}`]),
        'findings:',
        ...findings.flatMap((found) => [
          `  - rule: ${found.rule}`,
          `    severity: ${found.severity}`,
          `    message: ${yamlText(findingLine(found, 200))}`,
        ]),
        ...(reproduce === undefined ? [] : [`reproduce: ${yamlText(reproduce)}`]),
        '...',
      ]
      yield lines.map((line) => `  ${line}\n`).join('')
    }
    yield `1..${number}\n`
    for (const note of [...notes, summary]) yield `# ${escapeControlChars(note)}\n`
  },
}

function tapText(text: string): string {
  return escapeControlChars(text).replaceAll('\\', '\\\\').replaceAll('#', '\\#')
}

function yamlText(text: string): string {
  return escapeControlCharsInJson(JSON.stringify(text))
}
