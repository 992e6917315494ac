import { redactionConfig } from '../config/redaction-config.ts'
import { Redactor } from '../redact/redactor.ts'
import { ruleSet } from '../redact/rule-set.ts'
import { isSecretVariable } from '../redact/secret-names.ts'
import { forgottenKey, readRedactionKey } from '../store/redaction-key.ts'
import type { Header } from '../tape/header.ts'

/** The real values behind the stand-ins of a redacted tape: they go to the live server, and nowhere else. */
export interface LiveSecrets {
  /** A text for the live server, with every value that is known. */
  readonly reveal: (text: string) => string
  /** A text of the live server, with the stand-ins that its secrets have on the tape. */
  readonly hide: (text: string) => string
  /** What the user should know before anything is sent. */
  readonly note: string | undefined
}

export interface SecretSources {
  /** Variables whose names speak of secrets are looked at; by default those of this process. */
  readonly env?: Readonly<Record<string, string | undefined>>
  /** Further values, whatever they are called. */
  readonly values?: readonly string[]
}

/** Undefined for a tape that was never redacted: it says everything itself. */
export function liveSecrets(
  { redaction }: Pick<Header, 'redaction'>,
  { env = process.env, values = [] }: SecretSources = {},
): LiveSecrets | undefined {
  if (redaction === undefined) return undefined
  const own = readRedactionKey()
  const isOurs = own !== undefined && own.name === redaction.key
  const config = redactionConfig(process.cwd())
  const rules = ruleSet({ ...config, email: config.email === true || redaction.rules.includes('email') })
  const redactor = new Redactor({ key: isOurs ? own : forgottenKey(), rules, source: 'live' })
  redactor.learnEnv(env)
  for (const value of [...valuesIn(env), ...values]) learn(redactor, value)
  return {
    reveal: (text) => revealed(text, redactor),
    hide: (text) => redactor.text(text),
    note: isOurs ? undefined : withoutKey(redaction.key),
  }
}

function valuesIn(env: Readonly<Record<string, string | undefined>>): readonly string[] {
  return Object.entries(env).flatMap(([name, value = '']) =>
    isSecretVariable(name) && value !== '' ? [value] : [],
  )
}

/** Its stand-in is made now, so that it is known when it is met. Of an address only the password has one. */
function learn(redactor: Redactor, value: string): void {
  redactor.text(value)
  if (!value.includes('://')) redactor.secret(value)
}

/** What the live server made up is among them as well, once it has said it. */
function revealed(text: string, redactor: Redactor): string {
  return redactor.replaced.reduce((plain, value) => {
    const standIn = redactor.secret(value)
    return standIn === value ? plain : plain.replaceAll(escaped(standIn), () => escaped(value))
  }, text)
}

function escaped(text: string): string {
  return JSON.stringify(text).slice(1, -1)
}

function withoutKey(key: string): string {
  return `the secrets of the tape have stand-ins of the key ${key}, which is not here: the server gets the stand-ins`
}
