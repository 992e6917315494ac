import type { RedactionRule } from './rule.ts'
import { isPasswordLikeAt } from '../prefilter/pattern-kinds.ts'
import { isPasswordOptionNear } from '../prefilter/byte-tests.ts'
import { isExampleValue } from '../value-checks.ts'

interface PasswordOption {
  readonly keywords: readonly string[]
  readonly program: string
  /** How it takes a password, up to the password. */
  readonly option: string
}

/** Programs that take a password behind one letter. Only behind their names does the letter mean that. */
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

/** What stands between a program and its option, on one line. */
const BETWEEN = '(?:\\.exe)?(?:[ \\t][^\\r\\n|;&]{0,300}?)?[ \\t]'

/** Passwords on command lines, as people and programs write them into texts. */
export const commandLineRules = (): readonly RedactionRule[] => [
  ...PASSWORD_OPTIONS.map(commandLineRule),
  {
    name: 'command-line',
    keywords: ['in pass:', 'out pass:', '-pass pass:'],
    pattern: /-pass(?:in|out)? pass:(?<secret>[^\s"'`|;&\\]{4,200})/g,
    isSecret: (value) => !isExampleValue(value),
    isLearned: true,
  },
  {
    name: 'netrc',
    keywords: ['password '],
    followedBy: isPasswordLikeAt,
    pattern: /\blogin\s+\S{1,200}\s+password\s+(?<secret>\S{4,200})/g,
    isSecret: (value) => !isExampleValue(value),
    isLearned: true,
  },
]

function commandLineRule({ keywords, program, option }: PasswordOption): RedactionRule {
  const secret = '(?<secret>[^\\s"\'`|;&<>\\\\]{4,200})'
  return {
    name: 'command-line',
    keywords,
    followedBy: isPasswordOptionNear,
    pattern: new RegExp(`(?<![\\w-])(?:${program})${BETWEEN}${option}${secret}`, 'g'),
    isSecret: (value) => !isExampleValue(value),
    isLearned: true,
  }
}
