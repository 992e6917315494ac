/** What a name says of the value behind it. */
export type NameVerdict = 'secret' | 'maybe' | 'no'

/**
 * What the name of a member, an argument or a parameter says: `password` always holds a secret, `token` may, when its value looks
 * like one.
 */
export function judgeName(name: string): NameVerdict {
  const known = verdictCache.get(name)
  if (known !== undefined) return known
  const verdict = judgeNormalizedName(name.replaceAll(/[^A-Za-z0-9]/g, '').toLowerCase())
  if (verdictCache.size < MAX_CACHED_NAMES) verdictCache.set(name, verdict)
  return verdict
}

const verdictCache = new Map<string, NameVerdict>()
const MAX_CACHED_NAMES = 5000

const SECRET_NAME =
  /(password|passwd|passphrase|passcode|clientsecret|secretkey|secretaccesskey|privatekey|apikey|apitoken|accesstoken|refreshtoken|idtoken|authtoken|bearertoken|securitytoken|personaltoken|codeverifier|clientassertion|registrationaccesstoken|connectionstring|setcookie|authorization)$|^(secret|pin|otp|cvv|cookie|dpop|assertion|devicecode|usercode)$/
const MAYBE_SECRET_NAME =
  /(token|secret|credentials?|signature|accesskey|signingkey|encryptionkey|authkey|auth|dsn|pat|pwd)$|^pass$/
// Cursors and the like come back in later requests, and a count of tokens is no token.
const NOT_SECRET_NAME = /(progresstoken|pagetoken|synctoken|continuationtoken|cancellationtoken|tokens)$/

function judgeNormalizedName(name: string): NameVerdict {
  if (NOT_SECRET_NAME.test(name)) return 'no'
  if (SECRET_NAME.test(name)) return 'secret'
  return MAYBE_SECRET_NAME.test(name) ? 'maybe' : 'no'
}

/** What stands in every name that could be judged a secret: for the gate. */
export const NAME_KEYWORDS: readonly string[] = [
  'passw',
  'passphrase',
  'passcode',
  'secret',
  'token',
  ...['api', 'private', 'access', 'signing', 'encryption', 'auth'].flatMap(keyNameSpellings),
  'credential',
  'signature',
  'verifier',
  'assertion',
  'connectionstring',
  'connection_string',
  'cookie',
  'authorization',
  'devicecode',
  'device_code',
  'usercode',
  'user_code',
]

/** The same for names that are, or end in, so short a word that it must be the end. */
export const NAME_ENDINGS: readonly string[] = [
  'dpop',
  '"pwd',
  '_pwd',
  '_pass',
  '"pin',
  '"otp',
  '"cvv',
  'auth',
  'dsn',
  '"pat',
  '"pass',
  '_pat',
]

/** The same for names of options that no other name ends in. */
export const FLAG_ENDINGS: readonly string[] = ['-pass', 'storepass', 'keypass', '-pwd']

function keyNameSpellings(what: string): readonly string[] {
  return ['', '_', '-'].map((joint) => `${what}${joint}key`)
}

/** Options of programs, which have shorter names: `--pass`, `-storepass`. */
export function judgeFlag(flag: string): NameVerdict {
  const name = flag.replace(/^-+/, '')
  return /^(?:[\w-]*-)?(?:pass|pwd|storepass|keypass)$/i.test(name) ? 'secret' : judgeName(name)
}

/** Names of environment variables are made of words. */
export function isSecretVariable(name: string): boolean {
  if (name === 'PWD' || name === 'OLDPWD') return false // the working directory
  if (!VARIABLE_HINT.test(name)) return false
  return name.split(/[^A-Za-z0-9]+|(?<=[a-z])(?=[A-Z])/).some((word) => VARIABLE_WORD.test(word))
}

const VARIABLE_HINT =
  /token|secret|key|pass|pwd|cred|auth|dsn|pat|bearer|cookie|jwt|signature|webhook|connection/i
const VARIABLE_WORD =
  /^(tokens?|secrets?|keys?|pass|passwords?|passwd|pwd|passphrase|credentials?|creds|auth|dsn|pat|apikey|accesskey|secretkey|privatekey|bearer|cookie|jwt|signature|webhook|connectionstring)$|(token|secret|password|apikey)$/i

export function isSecretHeader(name: string): boolean {
  return SECRET_HEADER.test(name)
}

const SECRET_HEADER =
  /^(proxy-)?authorization$|^(set-)?cookie2?$|^dpop$|(^|-)auth$|session-id$|api-?key|token|secret|passw|credential|signature$/i

/** Parameters in the query of a URL. */
export function isSecretParameter(name: string): boolean {
  return SECRET_PARAMETER.test(name)
}

const SECRET_PARAMETER =
  /session|token|secret|passw|credential|api_?key|auth(?!or)|signature|^(key|code|state|sig|pwd|code_verifier)$/i

/** Fields of a form or of a body that is fetched from an authorization server. */
export function isOAuthField(name: string): boolean {
  return (
    OAUTH_FIELD.test(name) ||
    (isSecretParameter(name) && !/(_endpoint|_type|_supported|_at|_in|_uri|_method)$/.test(name))
  )
}

const OAUTH_FIELD =
  /^(code|state|code_verifier|device_code|user_code|(client_)?assertion|(subject|actor)_token|private_key)$/i
