import { ReelayError } from '../../errors.ts'
import { canonicalJson } from '../../json/canonical.ts'

/** When the recorded request was sent, and when the live one was, in milliseconds since 1970. */
export interface RequestTimes {
  readonly recorded: number
  readonly live: number
}

/** One way in which a live value counts as the recorded one though the two differ. */
export interface Comparison {
  /** As the user writes it: `number within 5%`. */
  readonly text: string
  /** True when the value is left out on both sides, so that it may be missing on either. */
  readonly leavesOut?: true
  /** How far apart two values are that count as equal, from 0 to 1; undefined when they do not. */
  distance(recorded: unknown, got: unknown, times: RequestTimes): number | undefined
}

/** A kind of comparison that rules can name. */
export interface ComparisonKind {
  readonly name: string
  /** How it is written, for help texts. */
  readonly usage: string
  readonly about: string
  /** Reads what follows the name. */
  parse(rest: string): Comparison
}

/** A kind that takes no further words. */
export function simpleComparison(
  kind: Pick<ComparisonKind, 'name' | 'about'>,
  distance: Comparison['distance'],
): ComparisonKind {
  return {
    ...kind,
    usage: kind.name,
    parse: (rest) => {
      if (rest !== '')
        throw invalidMatchRule(`"${kind.name}" takes nothing after it, and got ${JSON.stringify(rest)}`)
      return { text: kind.name, distance }
    },
  }
}

export function invalidMatchRule(why: string, hint?: string, cause?: unknown): ReelayError {
  return new ReelayError('RULE_INVALID', `cannot read a matching rule: ${why}`, {
    hint:
      hint ??
      'write it like tools/call search params.arguments.date relative-date; docs/reference/matching-rules.md lists the kinds',
    cause,
  })
}

/** 0 for equal values, and `otherwise` for others. */
export function equalOr(recorded: unknown, got: unknown, otherwise: number | undefined): number | undefined {
  return canonicalJson(recorded) === canonicalJson(got) ? 0 : otherwise
}
