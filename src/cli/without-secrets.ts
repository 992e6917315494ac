import { Redactor } from '../redact/redactor.ts'
import { forgottenKey } from '../store/redaction-key.ts'
import type { Header } from '../tape/header.ts'

/** What may be shown on a screen, which others see and logs keep: secrets get stand-ins that mean nothing. */
export function withoutSecrets(): (text: string) => string {
  let redactor: Redactor | undefined
  return (text) => {
    redactor ??= redactorOfEnv()
    return redactor.text(text)
  }
}

// Made when there is something to show: a client waits for the first answer, and most runs show nothing.
function redactorOfEnv(): Redactor {
  const redactor = new Redactor({ key: forgottenKey() })
  redactor.learnEnv(process.env)
  return redactor
}

/** The same for what is shown of a tape; one that was redacted has its own stand-ins, which are worth seeing. */
export function withoutSecretsOf({ redaction }: Pick<Header, 'redaction'>): (text: string) => string {
  return redaction === undefined ? withoutSecrets() : (text) => text
}
