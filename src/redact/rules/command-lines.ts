import type { RedactionRule } from './rule.ts'
import { isDummyValue, isExampleValue, looksRandom } from '../value-checks.ts'

interface PasswordOption {
  readonly keywords: readonly string[]
  readonly program: string
  /** Pattern of the option, up to the password. */
  readonly option: string
}

/** Programs with a one-letter option for a password. The letter means something else for other programs. */
const PASSWORD_OPTIONS: readonly PasswordOption[] = [
  {
    keywords: ['curl', 'wget'],
    program: 'curl|wget',
    option: `-(?:(?:u|U|-user|-proxy-user)[ =]?["']?[^\\s:"']*:|(?:b|-cookie)[ =]?["']?[\\w.-]+=)`,
  },
  {
    keywords: ['mysql', 'mariadb', '7z x', '7z a'],
    program: '(?:mysql|mariadb-?)(?:dump|admin|import|show)?|7z [ax]',
    option: `-p["']?`,
  },
  { keywords: ['sshpass'], program: 'sshpass', option: `-p ?["']?` },
  { keywords: ['redis-cli'], program: 'redis-cli', option: `-a ["']?` },
  { keywords: ['mongo'], program: 'mongo(?:sh|dump|restore|export|import)?', option: `-p ["']?` },
  {
    keywords: ['sqlcmd', 'zip', 'mosquitto_'],
    program: 'sqlcmd|(?:un)?zip|mosquitto_(?:pub|sub)',
    option: `-P ?["']?`,
  },
  { keywords: ['ssh-keygen'], program: 'ssh-keygen', option: `-N ?["']?` },
  { keywords: ['lftp'], program: 'lftp', option: `-u ["']?[^\\s,"']+,` },
  { keywords: ['openssl enc'], program: 'openssl enc', option: `-k ["']?` },
  { keywords: ['ldap'], program: 'ldap(?:search|modify|add|delete|whoami)', option: `-w ["']?` },
  { keywords: ['smbclient'], program: 'smbclient', option: `-U ["']?[^\\s%"']+%` },
  { keywords: [' login'], program: '(?:docker|podman|az|oc|skopeo) login', option: `-p ["']?` },
]

/** The other arguments between a program and its option. A backslash continues a line. */
const BETWEEN = '(?:\\.exe)?(?:[ \\t](?:[^\\r\\n|;&\\\\]|\\\\\\r?\\n|\\\\.){0,300}?)?[ \\t]'

/** Passwords as arguments without an option, before a pipe, and in SQL. */
const PASSWORD_ARGUMENTS: readonly Pick<RedactionRule, 'keywords' | 'pattern'>[] = [
  {
    keywords: ['vault login '],
    pattern: /\bvault login (?:-\S{1,60} ){0,8}(?<secret>(?!-)[^\s"'`|;&\\]{8,200})/g,
  },
  {
    keywords: ['http --auth', 'http -a ', 'https --auth', 'https -a '],
    pattern: /\bhttps? (?:-a|--auth)[ =]["']?[^\s:"']{1,100}:(?<secret>[^\s"'`|;&\\]{4,200})/g,
  },
  {
    keywords: ['rabbitmqctl '],
    pattern: /\brabbitmqctl (?:add_user|change_password) \S{1,100} ["']?(?<secret>[^\s"'`|;&\\]{4,200})/g,
  },
  {
    keywords: ['htpasswd -'],
    pattern:
      /\bhtpasswd -[A-Za-z]{0,4}b[A-Za-z]{0,4} \S{1,200} \S{1,100} ["']?(?<secret>[^\s"'`|;&\\]{4,200})/g,
  },
  { keywords: ['net user '], pattern: /\bnet user \S{1,100} (?<secret>(?!\/)[^\s"'`|;&\\]{4,200})/g },
  {
    keywords: ['--from-literal'],
    pattern:
      /(?<=create secret [^\r\n]{0,400})--from-literal[= ]["']?[\w.-]{1,100}=(?<secret>[^\s"'`|;&\\]{4,400})/g,
  },
  {
    keywords: ['secret set ', 'secrets set '],
    pattern: /\bsecrets? set (?:-\S{1,60} ){0,8}[A-Z][A-Z0-9_]{0,62}=["']?(?<secret>[^\s"'`|;&\\]{4,400})/g,
  },
  {
    keywords: ['sudo -S', '--password-stdin', '--with-token'],
    pattern:
      /\becho (?:-n )?["']?(?<secret>[^\s"'`|;&$\\]{4,200})["']? {0,4}\| {0,4}(?:sudo -S|\S{1,40}(?: \S{1,40}){0,8}? (?:--password-stdin|--with-token))/g,
  },
  {
    keywords: ['sqlplus ', 'oracle:thin:'],
    pattern:
      /(?:\bsqlplus (?:-\S{1,20} ){0,4}["']?|\boracle:thin:)[\w$#]{1,60}\/(?<secret>[^\s"'`|;&@/\\]{4,200})@/g,
  },
  {
    keywords: ['@tcp(', '@unix('],
    pattern: /(?<![\w.:/-])[\w.-]{1,64}:(?<secret>[^\s"'`:@/\\]{1,200})@(?:tcp|unix)\(/g,
  },
  {
    keywords: ['secret set ', 'secrets set '],
    pattern:
      /\bsecrets? set (?:\S{1,100} ){1,8}?(?:--body|-b|--value|-v)[ =]["']?(?<secret>[^\s"'`|;&\\]{4,400})/g,
  },
  {
    keywords: ['chpasswd'],
    pattern:
      /\becho (?:-[en] )?["']?[\w.-]{1,64}:(?<secret>[^\s"'`|;\\]{4,200})["']? {0,4}\| {0,4}(?:sudo )?chpasswd/g,
  },
  {
    keywords: ['passwd --stdin', 'passwd -s'],
    pattern:
      /\becho (?:-[en] )?["']?(?<secret>[^\s"'`|;:\\]{4,200})["']? {0,4}\| {0,4}(?:sudo )?passwd (?:--stdin|-s)/g,
  },
  {
    keywords: ['net use '],
    pattern: /\bnet use [^\r\n]{1,200}?\/user:\S{1,100} (?<secret>(?![/*])[^\s"'`|;&]{4,200})/gi,
  },
  {
    keywords: ['::add-mask::'],
    pattern: /::add-mask::(?<secret>[^\s"'`\\]{6,400})/g,
  },
  {
    keywords: ['WIFI:'],
    pattern: /\bWIFI:(?:[STH]:[^;\s]{0,64};){0,3}P:(?<secret>[^;\s"]{4,64});/g,
  },
  {
    keywords: ['npmAuthIdent'],
    pattern: /\bnpmAuthIdent\\*["']?\s{0,4}:\s{0,4}\\*["']?[^\s:"']{1,100}:(?<secret>[^\s"'\\]{4,200})/g,
  },
  {
    keywords: ['identified by ', 'identified with ', "password '", 'password for '],
    pattern:
      /\b(?:identified (?:with [\w"'`]{1,64} )?by|password(?: for [^\s=]{1,100} ?=)?) (?:password )?['"](?<secret>[^\s'"\\]{4,200})['"]/gi,
  },
]

/** Passwords on command lines that are quoted in a text. */
export const commandLineRules = (): readonly RedactionRule[] => [
  ...PASSWORD_OPTIONS.map(commandLineRule),
  ...PASSWORD_ARGUMENTS.map((argument) => ({
    name: 'command-line',
    service: 'passwords on command lines',
    ...argument,
    isSecret: (value: string) => !isExampleValue(value),
    isLearned: true as const,
  })),
  {
    name: 'command-line',
    service: 'passwords on command lines',
    keywords: ['in pass:', 'out pass:', '-pass pass:'],
    pattern: /-pass(?:in|out)? pass:(?<secret>[^\s"'`|;&\\]{4,200})/g,
    isSecret: (value) => !isExampleValue(value),
    isLearned: true,
  },
  {
    name: 'netrc',
    service: 'passwords in `.netrc`',
    keywords: ['password '],
    followedBy: 'password-like',
    pattern: /\blogin\s+\S{1,200}\s+password\s+(?<secret>\S{4,200})/g,
    isSecret: (value) => !isExampleValue(value),
    isLearned: true,
  },
  {
    name: 'netrc',
    service: 'passwords in `.netrc`',
    keywords: ['password '],
    followedBy: 'password-like',
    pattern: /\bmachine\s+\S{1,200}\s+password\s+(?<secret>\S{4,200})/g,
    isSecret: (value) => !isExampleValue(value),
    isLearned: true,
  },
  {
    name: 'key-variable',
    service: 'random values of variables whose names end in `_KEY`',
    keywords: ['_KEY'],
    pattern:
      /(?<![\w.-])[A-Z][A-Z0-9_]{0,62}_KEY\\*["'`]?\s*(?:=>|[:=])\s*\\*["'`]?(?<secret>[^\s"'`,;<>\\]{16,256})/g,
    isSecret: looksRandom,
    isLearned: true,
  },
  {
    name: 'kubernetes-secret',
    service: 'values in the `data` of a Kubernetes Secret',
    keywords: ['kind: Secret', "kind: 'Secret", 'kind: "Secret', 'kind: \\"Secret', '"Secret"', 'Secret\\"'],
    // The lines before the value, up to `data:`. In JSON, the scanner uses the names of the members instead.
    pattern:
      /(?<=^[ \t]*(?:data|stringData):[ \t]*\r?\n(?:[ \t][^\r\n]{1,4000}\r?\n){0,20})[ \t]+[\w.-]{1,253}: *(?:[|>]-?[ \t]*\r?\n[ \t]+)?["']?(?<secret>[^\s"']{4,4000})/gim,
    isSecret: (value) => !isDummyValue(value) && !/^[|>&*{[]/.test(value),
    isLearned: true,
  },
]

/** Matches the JSON of a Kubernetes Secret. */
export const KUBERNETES_SECRET: RegExp = /"kind"\s*:\s*"Secret"/

function commandLineRule({ keywords, program, option }: PasswordOption): RedactionRule {
  const secret = '(?<secret>[^\\s"\'`|;&<>\\\\]{4,200})'
  return {
    name: 'command-line',
    service: 'passwords on command lines',
    keywords,
    followedBy: 'password-option',
    pattern: new RegExp(`(?<![\\w-])(?:${program})${BETWEEN}${option}${secret}`, 'g'),
    isSecret: (value) => !isExampleValue(value),
    isLearned: true,
  }
}
