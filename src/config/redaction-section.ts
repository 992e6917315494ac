import type { Document, LineCounter, Node } from 'yaml'
import { ReelayError } from '../errors.ts'
import type { Rule } from '../redact/rule.ts'
import type { RuleChanges } from '../redact/rule-set.ts'
import { DEFAULT_RULES, EMAIL_RULE } from '../redact/rules.ts'

/** A config file, parsed, with what is needed to say where something stands. */
export interface ConfigText {
  readonly file: string
  readonly document: Document
  readonly lines: LineCounter
  /** The parser, which is loaded only when there is something to parse. */
  readonly yaml: typeof import('yaml')
}

/** The `redaction` section of a config: what it adds to the rules that come with Reelay, and takes from them. */
export function readRedactionSection(config: ConfigText): RuleChanges {
  const section = config.document.get('redaction', true)
  if (section === undefined || section === null) return {}
  if (!config.yaml.isMap(section)) throw broken(config, section as Node, '"redaction" is not a map')
  const changes: Mutable<RuleChanges> = {}
  for (const { key, value } of section.items) {
    const name = config.yaml.isScalar(key) ? String(key.value) : ''
    const read = MEMBERS[name]
    if (read === undefined)
      throw broken(
        config,
        key as Node,
        `"redaction.${name}" is not known; there are ${Object.keys(MEMBERS).join(', ')}`,
      )
    read(config, value as Node | null, changes)
  }
  return changes
}

type Mutable<T> = { -readonly [K in keyof T]: T[K] }
type Read = (config: ConfigText, node: Node | null, changes: Mutable<RuleChanges>) => void

const MEMBERS: Readonly<Record<string, Read>> = {
  rules: (config, node, changes) => {
    changes.rules = listIn(config, node, 'rules').map((item) => ruleIn(config, item))
  },
  off: (config, node, changes) => {
    changes.off = listIn(config, node, 'off').map((item) => knownRule(config, item))
  },
  fields: (config, node, changes) => {
    changes.fields = listIn(config, node, 'fields').map((item) => textIn(config, item, 'a field'))
  },
  allow: (config, node, changes) => {
    changes.allow = listIn(config, node, 'allow').map((item) => allowedIn(config, item))
  },
  email: (config, node, changes) => {
    if (!config.yaml.isScalar(node) || typeof node.value !== 'boolean')
      throw broken(config, node, '"redaction.email" is not true or false')
    changes.email = node.value
  },
}

function listIn(config: ConfigText, node: Node | null, name: string): readonly Node[] {
  if (config.yaml.isSeq(node)) return node.items as Node[]
  throw broken(config, node, `"redaction.${name}" is not a list`)
}

function textIn(config: ConfigText, node: unknown, what: string): string {
  if (config.yaml.isScalar(node) && typeof node.value === 'string' && node.value !== '') return node.value
  throw broken(config, node as Node | null, `${what} is not a text`)
}

function knownRule(config: ConfigText, node: Node): string {
  const name = textIn(config, node, 'the name of a rule')
  if ([...DEFAULT_RULES, EMAIL_RULE].some((rule) => rule.name === name)) return name
  throw broken(config, node, `there is no rule "${name}" to switch off`)
}

function ruleIn(config: ConfigText, node: Node): Rule {
  if (!config.yaml.isMap(node)) throw broken(config, node, 'a rule is not a map with "name" and "pattern"')
  const name = textIn(config, node.get('name', true) ?? node, 'the "name" of a rule')
  const source = node.get('pattern', true)
  const keywords = node.get('keywords', true)
  return {
    name,
    pattern: patternIn(config, (source as Node | undefined) ?? node),
    keywords:
      keywords === undefined
        ? []
        : listIn(config, keywords as Node, 'rules[].keywords').map((item) =>
            textIn(config, item, 'a keyword'),
          ),
    isLearned: true,
  }
}

/** `/…/` is a pattern; everything else is the value itself. */
function allowedIn(config: ConfigText, node: Node): RegExp {
  const text = textIn(config, node, 'an allowed value')
  if (/^\/.*\/[imsu]*$/.test(text)) return patternIn(config, node)
  return new RegExp(`^${text.replaceAll(/[\\^$.*+?()[\]{}|/-]/g, '\\$&')}$`)
}

function patternIn(config: ConfigText, node: Node): RegExp {
  const text = textIn(config, node, 'the "pattern" of a rule')
  const [, source = text, flags = ''] = /^\/(.*)\/([imsu]*)$/.exec(text) ?? []
  try {
    const pattern = new RegExp(source, flags)
    if (!pattern.test('')) return pattern
  } catch (error) {
    throw broken(config, node, error instanceof Error ? error.message : String(error))
  }
  throw broken(config, node, `the pattern ${text} matches nothing at all, so it would match everywhere`)
}

function broken({ file, lines }: ConfigText, node: Node | null, why: string): ReelayError {
  const { line, col } = lines.linePos(node?.range?.[0] ?? 0)
  return new ReelayError('REDACTION_CONFIG', `${file}, line ${line}, column ${col}: ${why}`, {
    hint: 'docs/redaction.md shows the section with all of its members',
  })
}
