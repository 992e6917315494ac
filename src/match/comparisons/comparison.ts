import { ReelayError } from '../../errors.ts'
import { canonicalJson } from '../../json/canonical.ts'

/** When the recorded and the live request were sent, in milliseconds since 1970. */
export interface RequestTimes {
  readonly recorded: number
  readonly live: number
}

/** Decides whether a live value matches a recorded one that may differ from it. */
export interface Comparison {
  /** The comparison as users write it, for example `number within 5%`. */
  readonly text: string
  /** True if the value is not compared at all, so that it may be missing on either side. */
  readonly ignoresValue?: true
  /** Returns the distance of two values that match, from 0 to 1, and `undefined` if they do not match. */
  distance(recorded: unknown, got: unknown, times: RequestTimes): number | undefined
}

/** A kind of comparison that rules can name. */
export interface ComparisonKind {
  readonly name: string
  /** The syntax, for help texts. */
  readonly usage: string
  readonly about: string
  /** Parses the text after the name. */
  parse(rest: string): Comparison
}

/** Creates a kind that has no arguments. */
export function simpleComparison(
  kind: Pick<ComparisonKind, 'name' | 'about'>,
  distance: Comparison['distance'],
): ComparisonKind {
  return {
    ...kind,
    usage: kind.name,
    parse: (rest) => {
      if (rest !== '')
        throw invalidMatchRule(`"${kind.name}" takes no arguments, but got ${JSON.stringify(rest)}`)
      return { text: kind.name, distance }
    },
  }
}

export function invalidMatchRule(why: string, hint?: string, cause?: unknown): ReelayError {
  return new ReelayError('RULE_INVALID', `invalid matching rule: ${why}`, {
    hint:
      hint ??
      'write it like tools/call search params.arguments.date relative-date; docs/reference/matching-rules.md lists the kinds',
    cause,
  })
}

/** Returns 0 for equal values, and `otherwise` for others. */
export function equalOr(recorded: unknown, got: unknown, otherwise: number | undefined): number | undefined {
  return canonicalJson(recorded) === canonicalJson(got) ? 0 : otherwise
}
