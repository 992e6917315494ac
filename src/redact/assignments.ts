import { isSecretParameter, isSecretVariable, judgeName, type NameVerdict } from './secret-names.ts'
import { isPlaceholder, isSaidSecret, looksRandom } from './value-tests.ts'

/** A value that a text gives a name to, as in `password = "x"`, `"apiKey": "x"`, `DB_PASSWORD=x` or `?token=x`. */
export interface Assigned {
  readonly start: number
  readonly end: number
}

// Looked for only where a word begins: within a long run of letters every start would be tried.
const NAME = '(?<![\\w.-])(?<name>[\\w.-]{2,64})'
const QUOTED = new RegExp(
  `${NAME}\\\\*["'\`]?\\s*(?:=>|[:=])\\s*\\\\*(?<quote>["'\`])(?<value>[^"'\`\\\\\\r\\n]{2,512})\\\\*\\k<quote>`,
  'dg',
)
const BARE = new RegExp(
  `${NAME}["']?\\s*[:=]\\s*(?<value>[^\\s"'\`,;(){}<>\\[\\]&|\\\\=:]{6,}=*)(?=[\\s,;&<\\]})"']|\\\\|$)`,
  'dg',
)
const PARAMETER = /[?&](?<name>[\w.-]{2,64})=(?<value>[^&\s"'<>#\\]{8,})/dg

/** Where a text gives values to names that speak of secrets. */
export function assignedSecrets(text: string, isNamed: (name: string) => boolean): readonly Assigned[] {
  return [
    ...found(text, QUOTED, (name, value) => isSecretValue(verdictOn(name, isNamed), value)),
    ...found(text, BARE, (name, value) => isBareSecret(verdictOn(name, isNamed), value)),
    ...found(text, PARAMETER, (name, value) => isSecretParameter(name) && /\d/.test(value)),
  ]
}

function verdictOn(name: string, isNamed: (name: string) => boolean): NameVerdict {
  if (isNamed(name)) return 'secret'
  const verdict = judgeName(name)
  return verdict === 'no' && /^[A-Z][A-Z0-9_]+$/.test(name) && isSecretVariable(name) ? 'maybe' : verdict
}

/** Without quotes a word of a sentence may stand there, or of a program: so something must speak for a secret. */
function isBareSecret(verdict: NameVerdict, value: string): boolean {
  if (verdict === 'secret') return isSaidSecret(value) && /\d/.test(value)
  return verdict === 'maybe' && looksRandom(value)
}

/** Whether a value behind a name with this verdict is a secret. */
export function isSecretValue(verdict: NameVerdict, value: string): boolean {
  if (verdict === 'secret') return !isPlaceholder(value)
  return verdict === 'maybe' && looksRandom(value)
}

function* found(
  text: string,
  pattern: RegExp,
  isSecret: (name: string, value: string) => boolean,
): Generator<Assigned> {
  for (const { groups, indices } of text.matchAll(pattern)) {
    const range = indices?.groups?.['value']
    if (range === undefined || !isSecret(groups?.['name'] ?? '', groups?.['value'] ?? '')) continue
    yield { start: range[0], end: range[1] }
  }
}
