import { equalOr, invalidMatchRule, type Comparison, type ComparisonKind } from './comparison.ts'

export const regexKind: ComparisonKind = {
  name: 'regex',
  usage: 'regex <pattern>',
  about: 'both texts match the pattern, and its groups, if any, capture the same text',
  parse: parseRegex,
}

function parseRegex(rest: string): Comparison {
  const pattern = compilePattern(rest)
  return {
    text: `regex ${rest}`,
    distance: (recorded, got) => {
      const [then, now] = [capturedGroups(pattern, recorded), capturedGroups(pattern, got)]
      return equalOr(recorded, got, then !== undefined && then === now ? 1 : undefined)
    },
  }
}

function compilePattern(text: string): RegExp {
  if (text === '') throw invalidMatchRule('"regex" needs a pattern', 'write it like regex ^run-[0-9]+$')
  try {
    return new RegExp(text, 'u')
  } catch (cause) {
    throw invalidMatchRule(
      `${JSON.stringify(text)} is not a valid JavaScript regular expression`,
      undefined,
      cause,
    )
  }
}

function capturedGroups(pattern: RegExp, value: unknown): string | undefined {
  const found = typeof value === 'string' ? pattern.exec(value) : null
  return found === null ? undefined : JSON.stringify(found.slice(1))
}
