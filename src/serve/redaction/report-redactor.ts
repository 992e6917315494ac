import { canonicalJson } from '../../json/canonical.ts'
import { parseJson } from '../../json/parse.ts'
import type { PathPattern } from '../../json/path.ts'
import type { FieldDifference } from '../../match/field-diff.ts'
import type { Miss } from '../../match/miss/miss.ts'
import type { ClientCall } from '../../tape/turns.ts'
import { member } from '../../protocol/message.ts'
import { Redactor } from '../../redact/redactor.ts'
import { redactionRuleSet } from '../../redact/rule-set.ts'
import { ephemeralKey } from '../../store/redaction-key.ts'
import type { TapeHeader } from '../../tape/header.ts'

/** What stands between a tape that was never redacted and those who read reports of it. */
export interface ReportRedactor {
  readonly text: (text: string) => string
  /** A request in a form that may be shown. */
  readonly request: <Request extends ClientCall>(request: Request) => Request
  /** A part of a request, which may have a name that tells. */
  readonly part: (name: string, value: unknown) => unknown
}

/** Secrets get stand-ins that mean nothing, because their key is forgotten. */
export function createThrowawayRedactor(allow: readonly RegExp[] = []): Redactor {
  const redactor = new Redactor({ key: ephemeralKey(), source: 'live', rules: redactionRuleSet({ allow }) })
  redactor.learnEnv(process.env)
  return redactor
}

/** None for a tape that was redacted: its stand-ins are worth seeing. */
export function reportRedactorFor({ redaction }: Pick<TapeHeader, 'redaction'>): ReportRedactor | undefined {
  return redaction === undefined ? createReportRedactor() : undefined
}

/** A screen that is put up when it is first needed. */
export function createReportRedactor(): ReportRedactor {
  let redactor: Redactor | undefined
  return reportRedactorFrom((plain) => (redactor ??= createThrowawayRedactor()).text(plain))
}

/** What a way to treat texts makes of everything else. */
export function reportRedactorFrom(text: (plain: string) => string): ReportRedactor {
  return {
    text,
    request: (request) => ({ ...request, params: redactParams(request.params, text) }),
    part: (name, value) => redactMember(name, value, text),
  }
}

/** As members of a message, so that what holds the protocol together is known and left alone. */
export function redactParams(params: unknown, redacted: (text: string) => string): unknown {
  return redactMember('params', params, redacted)
}

function redactMember(name: string, value: unknown, redacted: (text: string) => string): unknown {
  if (value === undefined) return value
  const text = canonicalJson({ [name]: value }) // JSON.stringify has a stack to blow
  const safe = redacted(text)
  return safe === text ? value : member(parseJson(safe), name)
}

/** A miss as it may be shown to clients and on screens. What is cut short later is whole here, so that no half of a secret stays. */
export function redactMiss(miss: Miss, screen: ReportRedactor): Miss {
  const { asked, why, nearest, annotations, fixes, next } = miss
  return {
    ...miss,
    why: screen.text(why),
    asked: screen.request(asked),
    nearest: nearest.map((candidate) => ({
      ...candidate,
      differences: candidate.differences.map((difference) => redactDifference(difference, screen)),
    })),
    annotations: annotations.map((annotation) =>
      'value' in annotation ? { ...annotation, value: screen.part('', annotation.value) } : annotation,
    ),
    fixes: fixes.map((fix) => ({ ...fix, command: screen.text(fix.command) })),
    ...(next && { next: screen.request(next) }),
  }
}

function redactDifference(difference: FieldDifference, screen: ReportRedactor): FieldDifference {
  const name = lastName(difference.path)
  return {
    ...difference,
    ...('recorded' in difference && { recorded: screen.part(name, difference.recorded) }),
    ...('got' in difference && { got: screen.part(name, difference.got) }),
  }
}

function lastName(path: PathPattern): string {
  return path.findLast((segment) => typeof segment === 'string') ?? ''
}
