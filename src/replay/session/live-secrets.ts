import { readRedactionConfig } from '../../config/redaction-config.ts'
import type { RedactionKey } from '../../redact/key.ts'
import { Redactor } from '../../redact/redactor.ts'
import { redactionRuleSet } from '../../redact/rule-set.ts'
import { isSecretVariable } from '../../redact/secret-names.ts'
import { Placeholders } from '../../redact/placeholders.ts'
import { ephemeralKey, readRedactionKey } from '../../store/redaction-key.ts'
import type { TapeHeader } from '../../tape/header.ts'
import { decodeLeaf, jsonLeaves, type JsonLeaf } from '../../json/leaves.ts'
import { formatPath } from '../../json/path.ts'
import { SecretRestorer } from '../revealing-pairs.ts'

/** The real values behind the stand-ins of a redacted tape: they go to the live server, and nowhere else. */
export interface LiveSecrets {
  /** A text for the live server, with every value that is known. */
  readonly reveal: (text: string) => string
  /** A text of the live server, with the stand-ins that its secrets have on the tape. */
  readonly hide: (text: string) => string
  /** What the user should know of it when these texts have failed. */
  readonly note: (sent: readonly string[]) => string | undefined
}

export interface SecretSources {
  /** Variables whose names speak of secrets are looked at; by default those of this process. */
  readonly env?: Readonly<Record<string, string | undefined>>
  /** Further values, whatever they are called. */
  readonly values?: readonly string[]
}

/** Undefined for a tape that was never redacted: it says everything itself. */
export function liveSecrets(
  { redaction }: Pick<TapeHeader, 'redaction'>,
  { env = process.env, values = [] }: SecretSources = {},
): LiveSecrets | undefined {
  if (redaction === undefined) return undefined
  const own = readRedactionKey()
  const isOurs = own !== undefined && own.name === redaction.key
  const config = readRedactionConfig(process.cwd())
  const rules = redactionRuleSet({
    ...config,
    email: config.email === true || redaction.rules.includes('email'),
  })
  const key = isOurs ? own : ephemeralKey()
  const redactor = new Redactor({ key, rules, source: 'live' })
  const pairs = new SecretRestorer(redactor, rules.fields)
  redactor.learnEnv(env)
  for (const value of [...secretValuesIn(env), ...values]) learnSecret(redactor, value)
  return {
    reveal: (text) => pairs.reveal(text),
    hide: (text) => redactor.text(text),
    note: (sent) =>
      isOurs
        ? unknownPlaceholderNote(
            sent.map((text) => pairs.reveal(text)),
            key,
          )
        : missingKeyNote(redaction.key),
  }
}

/** Where stand-ins went out because nobody told what is behind them. */
function unknownPlaceholderNote(texts: readonly string[], key: RedactionKey): string | undefined {
  const standIns = new Placeholders(key)
  const isUnknown = (text: string, leaf: JsonLeaf): boolean =>
    text[leaf.start] === '"' && standIns.isPlaceholder(decodeLeaf(text, leaf), false)
  const found = texts.flatMap((text) => jsonLeaves(text).filter((leaf) => isUnknown(text, leaf)))
  if (found.length === 0) return undefined
  const paths = new Set(found.map(({ path }) => formatPath(path)))
  return `nobody told what is behind the stand-ins at ${[...paths].join(', ')}: name the variable with --secret, or a file with --secrets`
}

function secretValuesIn(env: Readonly<Record<string, string | undefined>>): readonly string[] {
  return Object.entries(env).flatMap(([name, value = '']) =>
    isSecretVariable(name) && value !== '' ? [value] : [],
  )
}

/** Its stand-in is made now, so that it is known when it is met. Of an address only the password has one. */
function learnSecret(redactor: Redactor, value: string): void {
  redactor.text(value)
  if (!value.includes('://')) redactor.secret(value)
}

function missingKeyNote(key: string): string {
  return `the secrets of the tape have stand-ins of the key ${key}, which is not here: the server gets the stand-ins`
}
