import { once } from 'node:events'
import { lstatSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { fixtureServer, REELAY, record, start, temporaryFolder } from '../support/recorder.ts'

const isWindows = process.platform === 'win32'
const SERVER = fixtureServer('answer-calls')
const REQUEST = '{"jsonrpc":"2.0","id":1,"method":"m"}\n'

test.runIf(process.platform === 'linux')(
  'a home folder that cannot be made stops neither a session nor a signal',
  async () => {
    const env = { ...process.env, REELAY_HOME: '/proc/x' }
    const named = start([process.execPath, REELAY, 'record', 'a-name', '--', ...SERVER], { env })
    named.child.stdin.write(REQUEST)
    await named.line('"result"')
    named.child.kill('SIGTERM')
    await named.exited
    expect(named.stderr()).toContain(
      'TAPE_UNWRITABLE not recording: the folder /proc/x cannot be created: no such file or directory',
    )

    const recorded = record(SERVER, { env })
    recorded.child.stdin.end(REQUEST)
    expect((await recorded.exited).code).toBe(0)
    expect(recorded.stderr()).toContain('REDACTION_KEY this tape uses a temporary key')

    const served = start([process.execPath, REELAY, 'serve', recorded.tape], { env })
    served.child.stdin.end(REQUEST)
    expect((await served.exited).code).toBe(0)
    expect(served.stdout().toString()).toContain('"result"')

    const ca = start([process.execPath, REELAY, 'ca', 'create'], { env })
    expect((await ca.exited).code).toBe(3)
    const vault = ['redact', recorded.tape, '-o', `${recorded.tape}.copy`, '--vault', '/proc/x/vault']
    expect((await start([process.execPath, REELAY, ...vault]).exited).code).toBe(2)
  },
)

test.skipIf(isWindows)(
  'a report is never written through a symbolic link, and a rule file is private',
  async () => {
    const run = record(SERVER)
    run.child.stdin.end(REQUEST)
    await run.exited
    const folder = temporaryFolder()
    const [victim, link, report] = ['victim', 'link.json', 'report.json'].map((name) =>
      join(folder, name),
    ) as [string, string, string]
    writeFileSync(victim, 'precious')
    symlinkSync(victim, link)
    const replay = async (path: string): Promise<string> => {
      const { exited, stderr } = start([
        process.execPath,
        REELAY,
        'replay',
        run.tape,
        '-o',
        path,
        '--',
        ...SERVER,
      ])
      await exited
      return stderr()
    }
    expect(await replay(link)).toContain(`the report cannot be written to ${link}: it is a symbolic link`)
    expect([readFileSync(victim, 'utf8'), lstatSync(link).isSymbolicLink()]).toEqual(['precious', true])
    await replay(report)
    const before = process.umask(0)
    const rule = start([process.execPath, REELAY, 'match', 'add', run.tape, 'params.a', '--as', 'any'])
    process.umask(before)
    await once(rule.child, 'exit')
    const rules = run.tape.replace('.tape.jsonl', '.match.yaml')
    expect([report, rules].map((path) => statSync(path).mode & 0o777)).toEqual([0o600, 0o600])
  },
)
