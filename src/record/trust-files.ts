import { readFileSync } from 'node:fs'
import { rootCertificates } from 'node:tls'
import { writeBundle, type CaFiles } from '../store/ca-files.ts'

/**
 * Files that have a program trust the local CA beside what it trusted before: `extra` for programs that add it to their own
 * list, `all` for those that take it in place of theirs.
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

/** Node itself only warns of a file that it cannot read. */
function readOrEmpty(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return ''
  }
}
