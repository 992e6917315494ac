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
    option: `-(?:u|U|-user|-proxy-user)[ =]?["']?[^\\s:"']+:`,
  },
  {
    keywords: ['mysql', 'mariadb', '7z x', '7z a'],
    program: '(?:mysql|mariadb-?)(?:dump|admin|import|show)?|7z [ax]',
    option: `-p["']?`,
  },
  { keywords: ['sshpass'], program: 'sshpass', option: `-p ?["']?` },
  { keywords: ['redis-cli'], program: 'redis-cli', option: `-a ["']?` },
  { keywords: ['mongo'], program: 'mongo(?:sh|dump|restore|export|import)?', option: `-p ["']?` },
  { keywords: ['sqlcmd', 'unzip'], program: 'sqlcmd|unzip', option: `-P ?["']?` },
  { keywords: ['ldap'], program: 'ldap(?:search|modify|add|delete|whoami)', option: `-w ["']?` },
  { keywords: ['smbclient'], program: 'smbclient', option: `-U ["']?[^\\s%"']+%` },
  { keywords: [' login'], program: '(?:docker|podman|az|oc|skopeo) login', option: `-p ["']?` },
]

/** The other arguments between a program and its option, on the same line. */
const BETWEEN = '(?:\\.exe)?(?:[ \\t][^\\r\\n|;&]{0,300}?)?[ \\t]'

/** Passwords on command lines that are quoted in a text. */
export const commandLineRules = (): readonly RedactionRule[] => [
  ...PASSWORD_OPTIONS.map(commandLineRule),
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
    keywords: ['kind: Secret', '"Secret"', 'Secret\\"'],
    // The lines before the value, up to `data:`. In JSON, the scanner uses the names of the members instead.
    pattern:
      /(?<=^[ \t]*(?:data|stringData):[ \t]*\r?\n(?:[ \t]+[^\r\n]{1,4000}\r?\n){0,20})[ \t]+[\w.-]{1,253}: *["']?(?<secret>[^\s"']{4,4000})/gm,
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
