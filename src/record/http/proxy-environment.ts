import { readFileSync } from 'node:fs'
import { rootCertificates } from 'node:tls'
import { isLoopback } from '../../http/hosts.ts'
import { writeBundle, type CaFiles } from '../../store/ca-files.ts'

interface ProxyEnvironmentOptions {
  /** The environment that the variables are added to. */
  readonly env: NodeJS.ProcessEnv
  readonly proxy: string
  /** Files with certificates to trust, if there is a local CA. */
  readonly trust: TrustFiles | undefined
}

/** Files that make a program trust the local CA in addition to what it trusted before. */
export interface TrustFiles {
  /** For programs that add a file to their own list. */
  readonly extra: string
  /** For programs that use a file instead of their list. `before` is the file that they used until now. */
  readonly instead: (before: string | undefined) => string
}

/** Returns the variables that make a program use a proxy and trust the local CA. Variables that stay unchanged are left out. */
export function proxyEnvironment({
  env,
  proxy,
  trust,
}: ProxyEnvironmentOptions): Readonly<Record<string, string>> {
  return {
    HTTP_PROXY: proxy,
    HTTPS_PROXY: proxy,
    http_proxy: proxy,
    https_proxy: proxy,
    NODE_USE_ENV_PROXY: '1',
    ...noProxy(env, 'NO_PROXY'),
    ...noProxy(env, 'no_proxy'),
    ...(trust && { NODE_EXTRA_CA_CERTS: trust.extra }),
    ...(trust && trustVariables(env, trust)),
  }
}

/** Variables that name a file of certificates. OpenSSL, and so Python, Ruby and Go, reads the first, requests the second. */
const CERTIFICATE_VARIABLES = ['SSL_CERT_FILE', 'REQUESTS_CA_BUNDLE']
/** These are read too, but have a default that follows from the others. */
const MORE_CERTIFICATE_VARIABLES = ['CURL_CA_BUNDLE', 'AWS_CA_BUNDLE']

function trustVariables(env: NodeJS.ProcessEnv, { instead }: TrustFiles): Readonly<Record<string, string>> {
  const names = [...CERTIFICATE_VARIABLES, ...MORE_CERTIFICATE_VARIABLES.filter((name) => env[name])]
  return Object.fromEntries(names.map((name) => [name, instead(env[name] || undefined)]))
}

/** Removes the entries for this machine, because local servers are recorded too, and the star, which would exclude all servers. */
function noProxy(env: NodeJS.ProcessEnv, name: string): Record<string, string> {
  const value = env[name]
  if (value === undefined) return {}
  const entries = value.split(/[\s,]+/).filter((entry) => entry !== '')
  return { [name]: entries.filter((entry) => entry !== '*' && !isLocalEntry(entry)).join(',') }
}

function isLocalEntry(entry: string): boolean {
  const bare = entry.replace(/^\*?\./, '').replace(/\/\d+$/, '')
  const host = /^\[(.+)\](:\d+)?$/.exec(bare)?.[1] ?? bare.replace(/^([^:]*):\d+$/, '$1')
  return isLoopback(host)
}

/** Writes the files that make a program trust the local CA. `folder` is where bundles go. */
export function writeTrustFiles(
  folder: string,
  { cert, certPath }: Pick<CaFiles, 'cert' | 'certPath'>,
  env: NodeJS.ProcessEnv,
): TrustFiles {
  const extra = env['NODE_EXTRA_CA_CERTS'] || undefined
  const certs = extra === undefined ? [cert] : [cert, readOrEmpty(extra)]
  return {
    extra: extra === undefined ? certPath : writeBundle(folder, certs),
    instead: (before) => {
      const trusted = before === undefined ? rootCertificates : [readOrEmpty(before)]
      return writeBundle(folder, [...certs, ...trusted])
    },
  }
}

/** Node also only warns about a file that it cannot read. */
function readOrEmpty(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return ''
  }
}
