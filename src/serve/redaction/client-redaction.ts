import { readRedactionConfig } from '../../config/redaction-config.ts'
import { Redactor } from '../../redact/redactor.ts'
import { redactionRuleSet } from '../../redact/rule-set.ts'
import { ephemeralKey, readRedactionKey } from '../../store/redaction-key.ts'
import type { TapeHeader } from '../../tape/header.ts'
import { ClientStandIns } from '../live-stand-ins.ts'
import { redactParams } from './report-redactor.ts'

/** What is done with the secrets of a live client, because those of the tape have stand-ins. */
export interface ClientRedaction {
  /** Whether the key of the tape is here: then a live secret gets the stand-in that it has on the tape, and matches. */
  readonly isOurs: boolean
  /** How the tape names its key. */
  readonly key: string
  /** A text of the client without its secrets. */
  readonly text: (text: string) => string
  /** The params of a message likewise; the same params when they hold none. */
  readonly params: (params: unknown) => unknown
  /** What is known of values that no rule takes for secrets. */
  readonly standIns: ClientStandIns
  /** From now on a value of the client is a secret. */
  readonly hide: (value: string) => void
  /** The variables of the recorder whose names spoke of secrets. */
  readonly variables: readonly string[]
}

/** What is secret in a run, beside what the rules and the environment tell. */
interface RunSecrets {
  /** Sent to the live server, which may repeat them. */
  readonly headers?: Readonly<Record<string, string>>
  /** Named by somebody. */
  readonly values?: readonly string[] | undefined
}

/** Undefined for a tape that was never redacted. */
export function createClientRedaction(
  { redaction, servers }: Pick<TapeHeader, 'redaction' | 'servers'>,
  { headers = {}, values = [] }: RunSecrets = {},
): ClientRedaction | undefined {
  if (redaction === undefined) return undefined
  const own = readRedactionKey()
  const isOurs = own?.name === redaction.key
  const config = readRedactionConfig(process.cwd())
  const email = config.email === true || redaction.rules.includes('email')
  // Without the key nothing can match, but no secret should be in a report either.
  const key = isOurs && own !== undefined ? own : ephemeralKey()
  const redactor = new Redactor({ key, rules: redactionRuleSet({ ...config, email }), source: 'live' })
  redactor.learnEnv(process.env)
  for (const [name, value] of Object.entries(headers)) redactor.learnHeader(name, value)
  for (const value of values) redactor.learn(value)
  const text = (plain: string): string => redactor.text(plain)
  return {
    isOurs,
    key: redaction.key,
    text,
    params: (params) => redactParams(params, text),
    standIns: new ClientStandIns({ redactor, key, isOurs }),
    hide: (value) => redactor.learn(value),
    variables: [...new Set(Object.values(servers).flatMap(({ env = [] }) => env))],
  }
}
