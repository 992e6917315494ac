import { escapeControlChars } from '../../text.ts'
import type { RemoteServerState } from './check-remote.ts'
import type { DoctorConfig, DoctorEntry, DoctorReport } from './doctor.ts'
import type { DoctorFinding } from './local-checks.ts'

/** Formats the report: what is wrapped, what is wrong with it, and what to do. */
export function formatDoctorReport({ configs, entries, tapes, healthy }: DoctorReport): string {
  const sections = [
    configs.length === 0 ? ['no config file of a supported client was found'] : configs.flatMap(configLines),
    entries.length === 0 ? ['nothing is wrapped yet: run reelay wrap <server>'] : entries.flatMap(entryLines),
    [`tapes are in ${tapes.folder}`, ...tapes.findings.flatMap(findingLines)],
    [healthy ? 'all is well' : `${countFindings(configs, entries, tapes)} to look at`],
  ]
  return `${sections.map((lines) => lines.map(escapeControlChars).join('\n')).join('\n\n')}\n`
}

function configLines({ client, file, servers, findings }: DoctorConfig): readonly string[] {
  const names = servers.length === 0 ? 'no servers' : servers.join(', ')
  return [
    `${client}  ${file}  ${findings.length === 0 ? names : ''}`.trimEnd(),
    ...findings.flatMap(findingLines),
  ]
}

function entryLines(entry: DoctorEntry): readonly string[] {
  const { server, client, file, since, newest, findings } = entry
  const verb = entry.wrapped ? 'wrapped' : 'was wrapped'
  return [
    `${findings.length === 0 ? 'ok   ' : 'wrong'}  ${server} in ${client}, ${verb}${since === null ? '' : ` since ${since}`}`,
    `       config  ${file}`,
    `       tape    ${newest === null ? 'nothing recorded yet' : `${newest.path}, ${newest.recordedAt}`}`,
    ...(entry.remote === null ? [] : [`       server  ${remoteLine(entry.remote)}`]),
    ...findings.flatMap(findingLines),
  ]
}

function remoteLine(remote: NonNullable<DoctorEntry['remote']>): string {
  const said = 'status' in remote ? ` (HTTP ${remote.status})` : ''
  return `${remote.where}, ${REMOTE_STATE_TEXT[remote.kind]}${said}`
}

const REMOTE_STATE_TEXT: Readonly<Record<RemoteServerState['kind'], string>> = {
  answers: 'reachable',
  'wants-login': 'needs a login',
  fails: 'failing',
  moved: 'moved',
  refused: 'connection refused',
  timeout: 'no answer in time',
  unreachable: 'unreachable',
  'not-asked': 'not asked',
}

function findingLines({ about, hint }: DoctorFinding): readonly string[] {
  return [`       wrong   ${about}`, `       hint    ${hint}`]
}

function countFindings(...found: readonly (readonly WithFindings[] | WithFindings)[]): string {
  const findings = found.flat().flatMap((each) => each.findings).length
  return findings === 1 ? '1 thing' : `${findings} things`
}

interface WithFindings {
  readonly findings: readonly DoctorFinding[]
}
