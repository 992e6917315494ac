import { formatPath } from '../wire/path.ts'
import type { Rule } from './rule.ts'
import { shellWord, tapeWord } from './shell-word.ts'

/** The commands that store rules of one scope beside a tape, and what they do in a few words. */
export function matchAddCommands(
  tape: string,
  rules: readonly Rule[],
): { readonly what: string; readonly command: string } {
  const kinds = [...new Set(rules.map(({ comparison }) => comparison.text))]
  return {
    what: `${kinds.map(inWords).join(', ')}, from now on`,
    command: kinds.map((kind) => commandFor(tape, kind, rules)).join(' && '),
  }
}

function commandFor(tape: string, kind: string, all: readonly Rule[]): string {
  const rules = all.filter(({ comparison }) => comparison.text === kind)
  return [
    'reelay match add',
    tapeWord(tape),
    ...rules.map(({ path }) => shellWord(formatPath(path))),
    ...(kind === 'ignore' ? ['--ignore'] : ['--as', shellWord(kind)]),
    ...scopeOptions(rules[0]),
  ].join(' ')
}

function scopeOptions(rule: Rule | undefined): readonly string[] {
  if (rule?.tool !== undefined) return ['--tool', shellWord(rule.tool)]
  return rule?.method === undefined ? [] : ['--method', shellWord(rule.method)]
}

function inWords(kind: string): string {
  return kind === 'ignore' ? 'ignore the difference' : `compare as ${kind}`
}
