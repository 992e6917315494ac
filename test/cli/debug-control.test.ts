import { beforeEach, expect, test } from 'vitest'
import { attach } from '../support/control.ts'
import { fixtureServer, record, REELAY, start, temporaryFolder, until } from '../support/recorder.ts'

beforeEach(() => {
  process.env['REELAY_HOME'] = temporaryFolder()
})

const call = (id: number, total: number): string =>
  `{"jsonrpc":"2.0","id":${id},"method":"tools/call","params":{"name":"sum","arguments":{"total":${total}}}}\n`

test('a run of the debugger is controlled from another program, with the commands and events of the controller', async () => {
  const session = record(fixtureServer('echo-arguments'))
  session.child.stdin.write([50, 140, 60].map((total, at) => call(at + 1, total)).join(''))
  await session.line('"id":3')
  session.child.stdin.end()
  await session.exited
  const server = fixtureServer('echo-arguments')
  const run = start([
    process.execPath,
    REELAY,
    'debug',
    session.tape,
    '--allow-writes',
    '--control',
    '--',
    ...server,
  ])
  const user = await attach(session.tape)
  expect(user.events[0]).toMatchObject({ event: 'hello', subject: 'replay', tape: session.tape })
  await until(() => run.stdout().includes('(reelay)') || run.stdout().includes('#1'))
  const { result } = await user.command('addBreakpoint', { filter: 'result.structuredContent.total > 100' })
  expect(result).toMatchObject({ filter: 'result.structuredContent.total > 100' })
  await user.command('resume')
  await until(() => user.events.some(({ event, reason }) => event === 'stopped' && reason === 'breakpoint'))
  expect(user.events.findLast(({ event }) => event === 'stopped')).toMatchObject({ message: { exchange: 2 } })
  await expect(user.command('sek', { exchange: 1 })).rejects.toThrow('did you mean seek?')
  await user.command('stepBack')
  const shown = await user.command('show')
  expect(JSON.stringify(shown['result'])).toContain('50')
  await user.command('stop')
  await user.client.closed
  await run.exited
})
