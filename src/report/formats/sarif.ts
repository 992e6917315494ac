import { escapeControlCharsInJson } from '../../text.ts'
import { VERSION } from '../../version.ts'
import type { ReportDocument, ReportItem } from '../document.ts'
import { RULES, type RuleId } from '../rules.ts'
import { findingLine, reportPath, type DocumentFormat } from './format.ts'

/** SARIF 2.1.0 for code scanning. Findings are found again by `partialFingerprints`. */
export const sarifFormat: DocumentFormat = {
  name: 'sarif',
  help: 'SARIF 2.1.0 for code scanning',
  *render(document) {
    const rules = [...rulesIn(document.items)]
    const indexes = new Map(rules.map((rule, index) => [rule, index]))
    const driver = {
      name: 'reelay',
      informationUri: 'https://github.com/reelay-mcp/reelay',
      semanticVersion: VERSION,
      rules: rules.map(ruleObject),
    }
    yield '{\n  "$schema": "https://json.schemastore.org/sarif-2.1.0.json",\n  "version": "2.1.0",\n  "runs": [\n    {\n'
    yield `      "tool": ${json({ driver })},\n`
    yield `      "automationDetails": ${json({ id: `reelay/${document.command.replaceAll(' ', '-')}/` })},\n`
    yield `      "columnKind": "utf16CodeUnits",\n      "results": [`
    let before = ''
    for (const item of document.items)
      for (const result of resultsOf(item, document, indexes)) {
        yield `${before}\n        ${json(result)}`
        before = ','
      }
    yield '\n      ]\n    }\n  ]\n}\n'
  },
}

function rulesIn(items: Iterable<ReportItem>): ReadonlySet<RuleId> {
  const rules = new Set<RuleId>()
  for (const { findings } of items) for (const { rule } of findings) rules.add(rule)
  return rules
}

function ruleObject(id: RuleId): object {
  const { title, why, fix, level } = RULES[id]
  return {
    id,
    shortDescription: { text: title },
    fullDescription: { text: why },
    help: { text: `${why} ${fix}`, markdown: `${why} ${fix}` },
    defaultConfiguration: {
      level: level === 'breaking' || level === 'security' ? 'error' : level === 'info' ? 'note' : 'warning',
    },
    properties: { tags: level === 'security' ? ['mcp', 'security'] : ['mcp'] },
  }
}

function* resultsOf(
  { name, line = 1, findings, reproduce }: ReportItem,
  { file }: ReportDocument,
  indexes: ReadonlyMap<RuleId, number>,
): Generator<object> {
  for (const found of findings)
    yield {
      ruleId: found.rule,
      ruleIndex: indexes.get(found.rule) ?? -1,
      level: found.severity,
      message: { text: `${name}: ${findingLine(found, 200)}` },
      locations: [
        {
          physicalLocation: {
            artifactLocation: { uri: encodeURI(decodeURI(reportPath(file))) },
            region: { startLine: Math.max(1, line) },
          },
          logicalLocations: [
            { fullyQualifiedName: found.path === undefined ? name : `${name} ${found.path}` },
          ],
        },
      ],
      partialFingerprints: { 'reelayFinding/v1': found.fingerprint },
      ...(reproduce !== undefined && { properties: { reproduce } }),
    }
}

function json(value: object): string {
  return escapeControlCharsInJson(JSON.stringify(value))
}
