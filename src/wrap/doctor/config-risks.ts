import type { ConfigEntry, ConfigMember } from '../configs/config-format.ts'
import type { DoctorFinding } from './checks.ts'

/** Finds what is dangerous about a server in the config of a client, whether it is wrapped or not. */
export function findConfigRisks(
  { server, link, members }: ConfigEntry,
  holdsSecret: (text: string) => boolean,
): readonly DoctorFinding[] {
  const words =
    link.kind === 'command' ? [link.command, ...(link.args?.items ?? [])].map(({ value }) => value ?? '') : []
  const texts = members.flatMap(textsIn)
  const urls = texts.filter(({ text }) => /^https?:\/\//i.test(text))
  const exposed = texts.filter(({ name, text }) => !isVariable(text) && holdsSecret(`${name}=${text}`))
  return [
    ...exposed.map(({ name }) => risk('secret-in-config', `${name} of ${server} is a secret in plain text`)),
    ...(holdsSecret(words.join(' ')) && exposed.every(({ name }) => name !== 'args')
      ? [risk('secret-in-config', `the arguments of ${server} contain a secret in plain text`)]
      : []),
    ...unpinnedPackages(words).map((name) =>
      risk('unpinned-package', `${server} runs the newest ${name}, whatever it is at that time`),
    ),
    ...urls
      .filter(({ text }) => isOpenHttp(text))
      .map(({ text }) => risk('no-tls', `${server} is reached without TLS: ${new URL(text).origin}`)),
  ]
}

type Risk = Extract<DoctorFinding['kind'], 'secret-in-config' | 'unpinned-package' | 'no-tls'>

const HINTS: Readonly<Record<Risk, string>> = {
  'secret-in-config': 'use a variable of the environment, or an input of the client, and replace the secret',
  'unpinned-package': 'name a version, such as package@1.2.3, so that a hijacked release is not run',
  'no-tls': 'use https, or a server on this machine',
}

function risk(kind: Risk, about: string): DoctorFinding {
  return { kind, about, hint: HINTS[kind] }
}

interface NamedText {
  readonly name: string
  readonly text: string
}

function textsIn({ key, value, inside }: ConfigMember): readonly NamedText[] {
  if (inside !== undefined && inside.length > 0) return inside.flatMap(textsIn)
  return value.value === undefined ? [] : [{ name: key.value ?? '', text: value.value }]
}

/** `${TOKEN}`, `${env:TOKEN}`, `${input:token}`, `$TOKEN`: the client inserts the value. */
function isVariable(text: string): boolean {
  return /\$\{[^}]+\}|^\$\w+$/.test(text)
}

/** Package runners, and the words between them and the package. */
const RUNNERS: Readonly<Record<string, readonly string[]>> = {
  npx: [],
  bunx: [],
  pnpx: [],
  uvx: [],
  npm: ['exec'],
  pnpm: ['dlx'],
  yarn: ['dlx'],
  bun: ['x'],
  pipx: ['run'],
}

/** Packages without a version that a runner downloads. The words may be those of a wrapped server. */
function unpinnedPackages(words: readonly string[]): readonly string[] {
  return words.flatMap((word, at) => {
    const runner = /([^\\/]+?)(?:\.cmd|\.exe)?$/.exec(word)?.[1] ?? ''
    const verbs = Object.hasOwn(RUNNERS, runner) ? RUNNERS[runner] : undefined
    if (verbs === undefined) return []
    const rest = words.slice(at + 1).filter((each) => !each.startsWith('-'))
    if (verbs.some((verb, index) => rest[index] !== verb)) return []
    const name = rest[verbs.length]
    return name === undefined || isPinned(name) || isLocal(name) ? [] : [name]
  })
}

/** `name@1.2.3`, `@scope/name@1.2.3`, `name==1.2.3`. A tag such as `@latest` does not count. */
function isPinned(name: string): boolean {
  return /.@\^?~?\d|==\d|@[0-9a-f]{7,40}$|#[0-9a-f]{7,40}$/.test(name)
}

function isLocal(name: string): boolean {
  return /^[./~]|^file:|^[a-z]:\\/i.test(name)
}

function isOpenHttp(text: string): boolean {
  if (!URL.canParse(text)) return false
  const { protocol, hostname } = new URL(text)
  return protocol === 'http:' && !/^(localhost|.*\.localhost|127\..*|\[::1\])$/.test(hostname)
}
