import { canonicalJson } from '../../json/canonical.ts'

/** 0 for equal values, and `otherwise` for others. */
export function equalOr(recorded: unknown, got: unknown, otherwise: number | undefined): number | undefined {
  return canonicalJson(recorded) === canonicalJson(got) ? 0 : otherwise
}
