import { beforeEach, expect, test } from 'vitest'
import type { JsonObject } from '../../src/json/parse.ts'
import { attach, type Controller } from '../support/control.ts'
import { fixtureServer, record, REELAY, start, temporaryFolder, until } from '../support/recorder.ts'

beforeEach(() => {
  process.env['REELAY_HOME'] = temporaryFolder()
})

const call = (id: number, total: number): string =>
  `{"jsonrpc":"2.0","id":${id},"method":"tools/call","params":{"name":"sum","arguments":{"total":${total}}}}\n`

/** Records three calls, and debugs the tape with a control socket. */
async function debugged(): Promise<{ tape: string; run: RunningDebugger; user: Controller }> {
  const session = record(fixtureServer('echo-arguments'))
  session.child.stdin.write([50, 140, 60].map((total, at) => call(at + 1, total)).join(''))
  await session.line('"id":3')
  session.child.stdin.end()
  await session.exited
  const words = [
    'debug',
    session.tape,
    '--allow-writes',
    '--control',
    '--',
    ...fixtureServer('echo-arguments'),
  ]
  const run = start([process.execPath, REELAY, ...words])
  const user = await attach(session.tape)
  await until(() => run.stdout().includes('(reelay)') || run.stdout().includes('#1'))
  return { tape: session.tape, run, user }
}

type RunningDebugger = ReturnType<typeof start>

test('a run of the debugger is controlled from another program, with the commands and events of the controller', async () => {
  const { tape, run, user } = await debugged()
  expect(user.events[0]).toMatchObject({ event: 'hello', subject: 'replay', tape })
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

test('every command of the controller works on the control socket', async () => {
  const { run, user } = await debugged()
  let seen = 0
  const next = async (name: string): Promise<JsonObject> => {
    await until(() => user.events.slice(seen).some(({ event }) => event === name))
    const at = user.events.findIndex(({ event }, index) => index >= seen && event === name)
    seen = at + 1
    return user.events[at]!
  }
  const command = async (name: string, args: JsonObject = {}): Promise<unknown> =>
    (await user.command(name, args))['result']

  expect(await command('status')).toMatchObject({ status: 'paused', progress: { total: 3 } })
  seen = user.events.length // the first stop may have been reported before
  const logpoint = await command('addBreakpoint', { filter: '#3', log: 'total {params.arguments.total}' })
  const { id: breakpoint } = logpoint as { id: number }
  expect(await command('listBreakpoints')).toEqual({
    breakpoints: [expect.objectContaining({ id: breakpoint })],
  })
  await command('speed', { speed: 'x2' })
  const action = { kind: 'set', path: 'params.arguments.total', value: 7 }
  expect(await command('modifyNext', { action })).toMatchObject({ isEdited: true })
  await command('step', { unit: 'message' })
  expect(await next('stopped')).toMatchObject({ phase: 'response', message: { exchange: 1 } })
  await command('step')
  expect(await next('stopped')).toMatchObject({ phase: 'request', message: { exchange: 2 } })
  const message = { method: 'tools/call', params: { name: 'sum', arguments: { total: 9 } } }
  expect(JSON.stringify(await command('inject', { message }))).toContain('"total\\":9')
  await next('injected')
  await command('seek', { exchange: 1 })
  expect(await next('stopped')).toMatchObject({ reason: 'seek', message: { exchange: 1, isNext: false } })
  expect(JSON.stringify(await command('show'))).toContain('"total\\":7')
  expect(await command('resend')).toMatchObject({ type: 'resent' })
  await command('resume') // goes on where the run has stopped
  expect(await next('output')).toMatchObject({ text: 'total 60', breakpoint })
  expect(await next('ended')).toMatchObject({ status: 'done' })
  await user.client.closed
  expect((await run.exited).code).toBe(1)
})

test('a run is paused, goes back and forth and is ended on the control socket', async () => {
  const { run, user } = await debugged()
  const stops = (): JsonObject[] => user.events.filter(({ event }) => event === 'stopped')
  const go = async (name: string, args: JsonObject = {}): Promise<JsonObject> => {
    const before = stops().length
    await user.command(name, args)
    await until(() => stops().length > before)
    return stops().at(-1)!
  }
  expect(await go('seek', { percent: 100 })).toMatchObject({ phase: 'end' })
  expect(await go('seek', { percent: 0 })).toMatchObject({ message: { isNext: false } })
  expect(await go('seek', { exchange: 3 })).toMatchObject({ message: { exchange: 3 } })
  expect(await go('stepBack', { unit: 'message' })).toMatchObject({
    phase: 'response',
    message: { exchange: 2 },
  })
  const { result } = await user.command('addBreakpoint', { filter: 'params.arguments.total = 50' })
  expect(await go('reverse')).toMatchObject({ reason: 'breakpoint', message: { exchange: 1 } })
  const { id: breakpoint } = result as { id: number }
  expect(await user.command('removeBreakpoint', { breakpoint })).toMatchObject({
    result: { isRemoved: true },
  })
  await user.command('pause')
  await user.command('stop')
  await user.client.closed
  await run.exited
})
