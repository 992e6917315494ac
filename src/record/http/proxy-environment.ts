import { readFileSync } from 'node:fs'
import { rootCertificates } from 'node:tls'
import { isLoopback } from '../../http/hosts.ts'
import { writeBundle, type CaFiles } from '../../store/ca-files.ts'

export interface ProxyEnvironmentOptions {
  /** The environment that the variables are added to. */
  readonly env: NodeJS.ProcessEnv
  readonly proxy: string
  /** Files with certificates to trust, if there is a local CA. */
  readonly trust: { readonly extra: string; readonly all: string } | undefined
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
    ...(trust && unlessSet(env, 'SSL_CERT_FILE', trust.all)),
    ...(trust && unlessSet(env, 'REQUESTS_CA_BUNDLE', trust.all)),
  }
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

function unlessSet(env: NodeJS.ProcessEnv, name: string, value: string): Record<string, string> {
  return env[name] === undefined ? { [name]: value } : {}
}

/**
 * Writes files that make a program trust the local CA in addition to what it trusted before. `extra` is for programs that
 * add a file to their own list, `all` for programs that use a file instead of their list.
 */
export function writeTrustFiles(
  folder: string,
  { cert, certPath }: Pick<CaFiles, 'cert' | 'certPath'>,
  env: NodeJS.ProcessEnv,
): { extra: string; all: string } {
  const before = env['NODE_EXTRA_CA_CERTS'] || undefined
  const certs = before === undefined ? [cert] : [cert, readOrEmpty(before)]
  return {
    extra: before === undefined ? certPath : writeBundle(folder, certs),
    all: writeBundle(folder, [...certs, ...rootCertificates]),
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
