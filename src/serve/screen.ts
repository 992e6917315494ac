import type { Asked } from '../match/key.ts'
import { Redactor } from '../redact/redactor.ts'
import { ruleSet } from '../redact/rule-set.ts'
import { forgottenKey } from '../store/redaction-key.ts'
import type { Header } from '../tape/header.ts'
import { canonicalJson } from '../wire/canonical.ts'
import { member } from '../wire/message.ts'
import { parseJson } from '../wire/parse-json.ts'

/** What stands between a tape that was never redacted and those who read reports of it. */
export interface Screen {
  readonly text: (text: string) => string
  /** A request in a form that may be shown. */
  readonly request: <Request extends Asked>(request: Request) => Request
  /** A part of a request, which may have a name that tells. */
  readonly part: (name: string, value: unknown) => unknown
}

/** Secrets get stand-ins that mean nothing, because their key is forgotten. */
export function screenRedactor(allow: readonly RegExp[] = []): Redactor {
  const redactor = new Redactor({ key: forgottenKey(), source: 'live', rules: ruleSet({ allow }) })
  redactor.learnEnv(process.env)
  return redactor
}

/** None for a tape that was redacted: its stand-ins are worth seeing. */
export function screenFor({ redaction }: Pick<Header, 'redaction'>): Screen | undefined {
  return redaction === undefined ? createScreen() : undefined
}

/** A screen that is put up when it is first needed. */
export function createScreen(): Screen {
  let redactor: Redactor | undefined
  return screenBy((plain) => (redactor ??= screenRedactor()).text(plain))
}

/** What a way to treat texts makes of everything else. */
export function screenBy(text: (plain: string) => string): Screen {
  return {
    text,
    request: (request) => ({ ...request, params: redactedParams(request.params, text) }),
    part: (name, value) => redactedMember(name, value, text),
  }
}

/** As members of a message, so that what holds the protocol together is known and left alone. */
export function redactedParams(params: unknown, redacted: (text: string) => string): unknown {
  return redactedMember('params', params, redacted)
}

function redactedMember(name: string, value: unknown, redacted: (text: string) => string): unknown {
  if (value === undefined) return value
  const text = canonicalJson({ [name]: value }) // JSON.stringify has a stack to blow
  const safe = redacted(text)
  return safe === text ? value : member(parseJson(safe), name)
}
