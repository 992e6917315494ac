import { formatPath } from '../../json/path.ts'
import type { MatchRule } from '../rules.ts'

/** The commands that store rules of one scope beside a tape, and what they do in a few words. */
export function matchAddCommands(
  tape: string,
  rules: readonly MatchRule[],
): { readonly what: string; readonly command: string } {
  const kinds = [...new Set(rules.map(({ comparison }) => comparison.text))]
  return {
    what: `${kinds.map(describeComparison).join(', ')}, from now on`,
    command: kinds.map((kind) => matchAddCommand(tape, kind, rules)).join(' && '),
  }
}

function matchAddCommand(tape: string, kind: string, all: readonly MatchRule[]): string {
  const rules = all.filter(({ comparison }) => comparison.text === kind)
  return [
    'reelay match add',
    quoteTapeArgument(tape),
    ...rules.map(({ path }) => quoteShellWord(formatPath(path))),
    '--as',
    quoteShellWord(kind),
    ...scopeFlags(rules[0]),
  ].join(' ')
}

function scopeFlags(rule: MatchRule | undefined): readonly string[] {
  if (rule?.tool !== undefined) return ['--tool', quoteShellWord(rule.tool)]
  return rule?.method === undefined ? [] : ['--method', quoteShellWord(rule.method)]
}

function describeComparison(kind: string): string {
  return kind === 'ignore' ? 'ignore the difference' : `compare as ${kind}`
}

/** A word as it can be pasted into a shell. */
export function quoteShellWord(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`
}

/** The name of a tape as an argument: one that begins with a dash would be taken for an option. */
export function quoteTapeArgument(tape: string): string {
  return quoteShellWord(tape.startsWith('-') ? `./${tape}` : tape)
}
