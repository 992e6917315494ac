import { canonicalJson } from '../../json/canonical.ts'
import { parseJson, member } from '../../json/parse.ts'
import type { PathPattern } from '../../json/path.ts'
import type { FieldDifference } from '../../match/field-diff.ts'
import type { Miss } from '../../match/miss/miss.ts'
import type { ClientCall } from '../../tape/turns.ts'
import { Redactor } from '../../redact/redactor.ts'
import { redactionRuleSet } from '../../redact/rule-set.ts'
import { ephemeralKey } from '../../store/redaction-key.ts'
import type { TapeHeader } from '../../tape/header.ts'

/** Hides secrets in reports about a tape that is not redacted. */
export interface ReportRedactor {
  readonly text: (text: string) => string
  readonly request: <Request extends ClientCall>(request: Request) => Request
  /** Redacts a member of a message; its name may show that the value is a secret. */
  readonly part: (name: string, value: unknown) => unknown
}

/** Creates a redactor with a key that is not stored, so its placeholders cannot be reproduced. */
export function createThrowawayRedactor(allow: readonly RegExp[] = []): Redactor {
  const redactor = new Redactor({
    key: ephemeralKey(),
    source: 'live',
    rules: redactionRuleSet({ allow }),
    keepsValues: false,
  })
  redactor.learnEnv(process.env)
  return redactor
}

/** Returns `undefined` for a redacted tape: its placeholders may be shown. */
export function reportRedactorFor({ redaction }: Pick<TapeHeader, 'redaction'>): ReportRedactor | undefined {
  return redaction === undefined ? createReportRedactor() : undefined
}

/** The redactor is created when it is first needed. */
export function createReportRedactor(): ReportRedactor {
  let redactor: Redactor | undefined
  return reportRedactorFrom((plain) => (redactor ??= createThrowawayRedactor()).text(plain))
}

export function reportRedactorFrom(text: (plain: string) => string): ReportRedactor {
  return {
    text,
    request: (request) => ({ ...request, params: redactParams(request.params, text) }),
    part: (name, value) => redactMember(name, value, text),
  }
}

/** Redacts params as a member of a message, so that values of the protocol itself are recognized and kept. */
export function redactParams(params: unknown, redacted: (text: string) => string): unknown {
  return redactMember('params', params, redacted)
}

function redactMember(name: string, value: unknown, redacted: (text: string) => string): unknown {
  if (value === undefined) return value
  const text = canonicalJson({ [name]: value }) // JSON.stringify overflows the stack for deep values
  const safe = redacted(text)
  return safe === text ? value : member(parseJson(safe), name)
}

/** Redacts a miss for clients and reports. Values are still complete here: a truncated secret could not be recognized. */
export function redactMiss(miss: Miss, redactor: ReportRedactor): Miss {
  const { request, why, nearest, annotations, fixes, next } = miss
  return {
    ...miss,
    why: redactor.text(why),
    request: redactor.request(request),
    nearest: nearest.map((candidate) => ({
      ...candidate,
      differences: candidate.differences.map((difference) => redactDifference(difference, redactor)),
    })),
    annotations: annotations.map((annotation) =>
      'value' in annotation ? { ...annotation, value: redactor.part('', annotation.value) } : annotation,
    ),
    fixes: fixes.map((fix) => ({ ...fix, command: redactor.text(fix.command) })),
    ...(next && { next: redactor.request(next) }),
  }
}

function redactDifference(difference: FieldDifference, redactor: ReportRedactor): FieldDifference {
  const name = lastName(difference.path)
  return {
    ...difference,
    ...('recorded' in difference && { recorded: redactor.part(name, difference.recorded) }),
    ...('got' in difference && { got: redactor.part(name, difference.got) }),
  }
}

function lastName(path: PathPattern): string {
  return path.findLast((segment) => typeof segment === 'string') ?? ''
}
