import { equalOr } from './equal.ts'
import { ruleInvalid, type Comparison, type ComparisonKind } from './comparison.ts'

export const regexKind: ComparisonKind = {
  name: 'regex',
  usage: 'regex <pattern>',
  about: 'both texts match the pattern, and its groups, if it has any, catch the same',
  parse: parseRegex,
}

function parseRegex(rest: string): Comparison {
  const pattern = compiled(rest)
  return {
    text: `regex ${rest}`,
    distance: (recorded, got) => {
      const [then, now] = [caught(pattern, recorded), caught(pattern, got)]
      return equalOr(recorded, got, then !== undefined && then === now ? 1 : undefined)
    },
  }
}

function compiled(text: string): RegExp {
  if (text === '') throw ruleInvalid('"regex" needs a pattern', 'write it like regex ^run-[0-9]+$')
  try {
    return new RegExp(text, 'u')
  } catch (cause) {
    throw ruleInvalid(`${JSON.stringify(text)} is no pattern of JavaScript`, undefined, cause)
  }
}

function caught(pattern: RegExp, value: unknown): string | undefined {
  const found = typeof value === 'string' ? pattern.exec(value) : null
  return found === null ? undefined : JSON.stringify(found.slice(1))
}
