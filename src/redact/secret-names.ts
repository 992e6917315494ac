import { ownCopy } from './known-values.ts'

/**
 * How strongly a name suggests that its value is secret: certainly; if the value looks random; or only if nothing but a generator
 * makes such values.
 */
export type NameVerdict = 'secret' | 'maybe' | 'generated' | 'no'

/**
 * Judges the name of a member, an argument or a parameter. A `password` is always secret; a `token` is secret if its value looks
 * random.
 */
export function judgeName(name: string): NameVerdict {
  const known = verdictCache.get(name)
  if (known !== undefined) return known
  const verdict = PASS_NAME.test(name) ? 'maybe' : judgeNormalizedName(normalizeName(name))
  if (verdictCache.size < MAX_CACHED_NAMES && name.length < MAX_CACHED_LENGTH)
    verdictCache.set(ownCopy(name), verdict)
  return verdict
}

/** `ansible_become_pass`, but not `bypass`. */
const PASS_NAME = /[a-z0-9][_.-]pass$|[a-z]Pass$/

/** Returns false for words that `judgeName` never takes for names of secrets. Most words of a text are such. */
export function mayBeSecretName(word: string): boolean {
  return NAME_HINT.test(word)
}

const NAME_HINT =
  /pass|kennwort|wachtwoord|contrase|senha|pw|secret|token|key|cred|sign|hmac|jwt|[cx]srf|auth|dsn|pat$|bearer|hook|code|verifier|assertion|connection|securestring|cookie|pin$|otp$|cvv$|dpop|psk|login/i

/** Makes names comparable: `API-Key`, `api_key` and `apiKey` become the same. */
export function normalizeName(name: string): string {
  return name.replaceAll(/[^A-Za-z0-9]/g, '').toLowerCase()
}

const verdictCache = new Map<string, NameVerdict>()
const MAX_CACHED_NAMES = 5000
const MAX_CACHED_LENGTH = 200

const SECRET_NAME =
  /(password|passwort|kennwort|wachtwoord|contrase[an]?a|motdepasse|senha|passwd|passphrase|passcode|clientsecret|secretkey|secretaccesskey|privatekey|apikey|apitoken|accesstoken|refreshtoken|idtoken|authtoken|bearertoken|securitytoken|personaltoken|codeverifier|clientassertion|registrationaccesstoken|sonarlogin|connectionstring|setcookie|authorization|securestring|requirepass|bindpw|rootpw|secretkeybase|consumerkey|psk)$|^(secret|pin|otp|cvv|cookie|dpop|assertion|devicecode|usercode)$/
const MAYBE_SECRET_NAME =
  /(token|secret|credentials?|creds|signature|hmac|jwt|csrf|xsrf|auth|dsn|pat|pwd|bearer|webhook(url)?|(access|signing|encryption|auth|subscription|functions?|master|account|shared|service|license|hmac|recovery|activation|security|storage|app|application|consumer|deploy|admin|write)key|(recovery|backup|activation)codes?)$|^(pass|pw)$/
/** Services whose keys have no form of their own. A name such as `datadog_key` says what its value is. */
const SERVICES =
  'adafruit|adobe|airtable|algolia|alibaba|alchemy|amplitude|asana|atlassian|auth0|azure|beamer|bitbucket|bittrex|brave|cloudflare|codecov|cohere|coinbase|confluent|contentful|coveralls|datadog|deepgram|deepseek|discord|drone|dropbox|elastic|etherscan|etsy|facebook|fastly|finicity|finnhub|firebase|flickr|freshbooks|gemini|giphy|gitter|gocardless|grafana|heroku|hubspot|infura|intercom|jfrog|kraken|kucoin|launchdarkly|linear|linkedin|logdna|looker|mailgun|mapbox|mattermost|meraki|messagebird|mistral|mixpanel|mux|netlify|newrelic|nytimes|okta|openai|opsgenie|pagerduty|pinecone|plaid|privateai|pusher|quickbooks|rapidapi|segment|sendbird|sendgrid|sendinblue|sentry|shodan|shopify|sidekiq|slack|snyk|sonar|sonatype|splunk|spotify|square|squarespace|stripe|sumologic|supabase|tavily|telegram|tomtom|travis|trello|twilio|twitch|twitter|typesense|virustotal|weatherapi|wakatime|yandex|youtube|zendesk|zoom'
const SERVICE_KEY = new RegExp(`(?:${SERVICES})[a-z0-9]{0,12}key$`)

// Cursors are sent back in later requests and must match, and `tokens` is usually a count.
const NOT_SECRET_NAME = /(progresstoken|pagetoken|synctoken|continuationtoken|cancellationtoken|tokens)$/

/** Keys of records, caches, lists and shortcuts, and those that everybody may know. */
const NOT_SECRET_KEY =
  /(public|pub|gpg|pgp|cache|primary|foreign|sort|partition|object|file|idempotency|row|map|hot|arrow|routing|hash|index|group|composite|unique|lookup|i18n|translation|locale|bucket|s3|item|data|record|entity|column|field|property|shard|document|doc|node|session|dedup|deduplication|react|list|project|issue|epic|board|space|parent|child|event|message|state|room|channel|design|component|style|icon|image|asset|route|query|search|config|setting|feature|flag|template|block|page|section|tab|menu|short|enter|escape|modifier|code|mapping|override|series|metric|etag|version|build|tag|label|job|task|workflow|instance|resource|library|collection|package|on|natural|business|surrogate|range|metadata|attribute|tree|trie|store|map|dict|kv|json|xml|yaml|registry|wellknown|type|tool|request|response|blob|path|content|checksum|digest|mon|don|tur|whis|hoc|joc|jac|coc)key$/

function judgeNormalizedName(name: string): NameVerdict {
  if (NOT_SECRET_NAME.test(name)) return 'no'
  if (SECRET_NAME.test(name)) return 'secret'
  if (MAYBE_SECRET_NAME.test(name) || SERVICE_KEY.test(name)) return 'maybe'
  if (name.endsWith('key')) return NOT_SECRET_KEY.test(name) ? 'no' : 'generated'
  const [, stem = '', digits] = SUFFIX.exec(name) ?? []
  if (stem === '') return 'no'
  const verdict = judgeNormalizedName(stem)
  return verdict === 'secret' && digits === undefined ? 'maybe' : verdict
}

/** What can follow the name of a secret: `token2`, `secretString`, `passwordProd`. */
const SUFFIX =
  /^(.{2,}?)(?:(\d{1,4})|string|value|plaintext|prod|production|dev|test|staging|live|sandbox|old|new|current|primary|secondary|main|backup|login)$/

/** Every name that `judgeName` accepts contains one of these, or ends as listed below. The prefilter searches for them. */
export const NAME_KEYWORDS: readonly string[] = [
  'passw',
  'kennwort',
  'wachtwoord',
  'contrase',
  'motdepasse',
  'mot_de_passe',
  '"senha',
  'passphrase',
  'passcode',
  'secret',
  'token',
  'apikey',
  'api_key',
  'api-key',
  ...['private', 'access', 'signing', 'encryption', 'auth', 'subscription', 'function', 'functions', 'master']
    .concat(['account', 'shared', 'service', 'license'])
    .flatMap((word) => [`${word}key`, `${word}_key`, `${word}-key`]),
  'credential',
  ...['', '_', '-', '.'].map((joint) => `sonar${joint}login`),
  'signature',
  'verifier',
  'assertion',
  'connectionstring',
  'connection_string',
  'cookie',
  'webhook',
  'csrf',
  'xsrf',
  'authorization',
  'devicecode',
  'device_code',
  'usercode',
  'user_code',
]

/** Short words that count only at the end of a name. */
export const NAME_ENDINGS: readonly string[] = [
  'dpop',
  'pwd',
  'pass',
  'psk',
  'bearer',
  'requirepass',
  'securestring',
  'bindpw',
  'rootpw',
  ...['recovery', 'backup', 'activation'].flatMap((word) =>
    ['', '_', '-', ' '].map((joint) => `${word}${joint}code`),
  ),
  '"pw',
  ' pw',
  '*pw',
  '_pw',
  '"pin',
  '"otp',
  '"cvv',
  'auth',
  'dsn',
  'jwt',
  'hmac',
  'creds',
  '"pat',
  '_pat',
]

/** Words that count only at the end of an option. */
export const FLAG_ENDINGS: readonly string[] = ['-pass', 'storepass', 'keypass', '-pwd']

/** Judges the name of an option, which may be shorter than other names: `--pass`, `-storepass`. */
export function judgeFlag(flag: string): NameVerdict {
  const name = flag.replace(/^-+/, '')
  return /^(?:[\w-]*-)?(?:pass|pwd|storepass|keypass)$/i.test(name) ? 'secret' : judgeName(name)
}

/** Judges the name of an environment variable by its words. */
export function isSecretVariable(name: string): boolean {
  if (name === 'PWD' || name === 'OLDPWD') return false // the working directory
  if (!VARIABLE_HINT.test(name)) return false
  return name.split(/[^A-Za-z0-9]+|(?<=[a-z])(?=[A-Z])/).some((word) => VARIABLE_WORD.test(word))
}

const VARIABLE_HINT =
  /token|secret|key|pass|pwd|cred|auth|dsn|pat|bearer|cookie|jwt|signature|webhook|connection/i
const VARIABLE_WORD =
  /^(tokens?|secrets?|keys?|pass|passwords?|passwd|pwd|passphrase|credentials?|creds|auth|dsn|pat|apikey|accesskey|secretkey|privatekey|bearer|cookie|jwt|signature|webhook|connectionstring)$|(token|secret|password|apikey)$/i

/** Judges the name of a header. Any header that ends in `key` counts, except those whose keys are known to be names. */
export function isSecretHeader(name: string): boolean {
  return SECRET_HEADER.test(name) && !PUBLIC_KEY_HEADER.test(name)
}

const SECRET_HEADER =
  /authorization|^(set-)?cookie2?$|session|api-?key|token|secret|passw|passphrase|passcode|credential|signature|csrf|xsrf|jwt|assertion|(^|-)(auth|authentication|key|pass|pwd|pin|otp|creds?|bearer|dpop|hmac|sig|sid|ticket|dsn|webhook)$/i
const PUBLIC_KEY_HEADER = /(^|-)(idempotency|cache|surrogate|public|partition|routing|websocket)-key$/i

/** Judges the name of a query parameter. */
export function isSecretParameter(name: string): boolean {
  return SECRET_PARAMETER.test(name)
}

const SECRET_PARAMETER =
  /session|token|secret|passw|passphrase|credential|(api|access|subscription|functions?|master|account|private|license)[-_]?key|auth(?!or)|signature|jwt|csrf|xsrf|bearer|^(key|code|state|sig|sid|pwd|pass|pin|otp|sas|ticket|hmac|nonce|creds?|assertion|saml(request|response)|code_verifier)$/i

/** Judges the name of a field that is sent to or by an authorization server. */
export function isOAuthField(name: string): boolean {
  return (
    OAUTH_FIELD.test(name) ||
    (isSecretParameter(name) && !/(_endpoint|_type|_supported|_at|_in|_uri|_method)$/.test(name))
  )
}

const OAUTH_FIELD =
  /^(code|state|code_verifier|device_code|user_code|(client_)?assertion|(subject|actor)_token|private_key)$/i
