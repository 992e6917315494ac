import fc from 'fast-check'
import { expect, test } from 'vitest'
import { cases } from '../../../test/support/cases.ts'
import {
  answerOf,
  callOf,
  client,
  ENVELOPE,
  HANDSHAKE,
  type Said,
  server,
  tapeOf,
} from '../../../test/support/tape-of.ts'
import { ReelayError } from '../../errors.ts'
import { classifyMessage } from '../../protocol/message.ts'
import type { ReplayOptions, ReplayTarget } from '../options.ts'
import { replay } from '../replay.ts'
import type { ControllerEvent } from './commands.ts'
import { ReplayController } from './controller.ts'

/** What the recorded client does. Calls may overlap: then the response comes after the next message of the client. */
const ACT = fc.record({
  kind: fc.constantFrom('call', 'call', 'lost', 'cancelled', 'notify', 'asking', 'list'),
  overlaps: fc.boolean(),
})
const index = fc.nat({ max: 14 })
const COMMAND = fc.oneof(
  fc.record({ type: fc.constant('step'), unit: fc.constantFrom('exchange', 'message') }),
  fc.record({ type: fc.constant('stepBack'), unit: fc.constantFrom('exchange', 'message') }),
  fc.record({ type: fc.constant('seek'), index }),
  fc.record({ type: fc.constant('seek'), percent: fc.nat({ max: 100 }) }),
  fc.record({ type: fc.constant('seek'), exchange: fc.nat({ max: 8 }) }),
  fc.record({ type: fc.constant('resend'), index }),
  fc.record({ type: fc.constant('show'), index }),
  fc.record({ type: fc.constant('removeBreakpoint'), id: fc.nat({ max: 5 }) }),
  fc.record({
    type: fc.constantFrom('modify', 'modifyNext'),
    action: fc.constantFrom(
      { kind: 'set', path: 'params.arguments.more', value: 1 },
      { kind: 'remove', path: 'params.arguments.n' },
      { kind: 'skip' },
      { kind: 'delay', milliseconds: 1 },
      { kind: 'error', code: -1, message: 'no' },
      { kind: 'reset' },
    ),
  }),
  fc.constantFrom(
    { type: 'pause' },
    { type: 'resume' },
    { type: 'start' },
    { type: 'reverse' },
    { type: 'resend' },
    { type: 'status' },
    { type: 'show' },
    { type: 'inject', message: { method: 'tools/call', params: { name: 'search', arguments: { n: 99 } } } },
    { type: 'inject', message: { method: 'notifications/extra' } },
    { type: 'addBreakpoint', filter: 'tool:search' },
    { type: 'addBreakpoint', filter: 'status:ok', hits: '%2' },
    { type: 'addBreakpoint', difference: true, once: true },
    { type: 'addBreakpoint', filter: 'method:notifications/*', log: 'a {method}' },
    { type: 'speed', speed: '1ms' },
  ),
)

test('whatever the commands are, no run hangs, no message is lost, and all counts add up', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(ACT, { minLength: 1, maxLength: 7 }),
      fc.array(fc.tuple(COMMAND, fc.boolean()), { maxLength: 14 }),
      fc.record({
        isModern: fc.boolean(),
        isSequential: fc.boolean(),
        stops: fc.boolean(),
        leaves: fc.boolean(),
      }),
      async (acts, commands, { isModern, isSequential, stops, leaves }) => {
        const live = searches()
        const controller = new ReplayController()
        const events: ControllerEvent[] = []
        controller.subscribe((event) => events.push(event))
        if (stops) controller.stopAtFirst()
        const options: ReplayOptions = { target: live.target, controller, timeout: 20, startTimeout: 10_000 }
        const run = replay(tapeFrom(acts, isModern), {
          ...options,
          ...(isSequential && { ordering: { kind: 'sequential' } }),
        })
        for (const [command, waits] of commands) {
          await controller.execute(command).catch(requireUsageError)
          if (waits) await controller.waitForStop()
        }
        for (const { id } of controller.breakpoints) controller.removeBreakpoint(id)
        if (leaves) controller.stop()
        while (controller.status !== 'done' && controller.status !== 'stopped') {
          await controller.waitForStop()
          controller.resume()
        }
        const { summary, steps } = await run.report
        const indexes = [...steps].map((step) => step.index)
        expect(indexes.toSorted((a, b) => a - b)).toEqual(indexes.map((_, at) => at))
        expect(indexes.length).toBe(controller.size)
        const { progress, counts, open } = controller.state()
        expect(progress).toMatchObject({ done: progress.total, percent: 100 })
        expect(open).toEqual([])
        const extra = events.filter(({ type }) => type === 'resent' || type === 'injected')
        expect(counts.resent + counts.injected).toBe(extra.length)
        const failedByUser = [...steps].filter(({ isInjected }) => isInjected).length
        expect(summary.sent + failedByUser).toBe(
          [...steps].filter(({ sentAt }) => sentAt !== undefined).length,
        )
        // Without a stop, the list of tools is sent before its turn. If it is changed then, it is sent again.
        const lists = stops ? 0 : acts.filter(({ kind }) => kind === 'list').length
        const heard = summary.sent + extra.length
        const isHeard = live.heard >= heard && live.heard <= heard + lists
        expect(isHeard || leaves).toBe(true)
        expect(events.filter(({ type }) => type === 'ended')).toHaveLength(1)
      },
    ),
    { ...cases(60), timeout: 30_000 },
  )
}, 120_000)

function requireUsageError(error: unknown): void {
  expect(error).toBeInstanceOf(ReelayError)
  expect(error).toMatchObject({ code: 'USAGE' })
}

function tapeFrom(
  acts: readonly { readonly kind: string; readonly overlaps: boolean }[],
  isModern: boolean,
): ReturnType<typeof tapeOf> {
  const meta = isModern ? { _meta: ENVELOPE } : {}
  const said: Said[] = isModern ? [] : [...HANDSHAKE]
  const late: Said[] = []
  for (const [at, { kind, overlaps }] of acts.entries()) {
    const id = at + 1
    const call = callOf(id, 'search', { n: id, kind })
    const responses: Said[] = []
    if (kind === 'notify') said.push(client({ method: 'notifications/roots/list_changed' }))
    else if (kind === 'list') said.push(client({ id, method: 'tools/list', params: meta }))
    else said.push(client({ ...call, params: { ...(call['params'] as object), ...meta } }))
    said.push(...late.splice(0))
    if (kind === 'list') responses.push(server({ id, result: { tools: [] } }))
    if (kind === 'call' || kind === 'asking') responses.push(server(answerOf(id, 'found')))
    if (kind === 'asking' && !isModern)
      said.push(server({ id: `s${id}`, method: 'ping' }), client({ id: `s${id}`, result: {} }))
    if (kind === 'cancelled')
      late.push(client({ method: 'notifications/cancelled', params: { requestId: id } }))
    if (overlaps) late.push(...responses)
    else said.push(...responses)
  }
  return tapeOf(...said, ...late)
}

/** A server that answers calls a little later, asks in between, and does not answer those that were lost or cancelled. */
function searches(): { readonly target: ReplayTarget; heard: number } {
  const live = {
    heard: 0,
    target: {
      name: 'a server of the test',
      open: async ({ onText }) => ({
        send: (text: string) => {
          const message = classifyMessage(JSON.parse(text))
          if (message.kind !== 'request') {
            if (message.kind === 'notification' && message.method !== 'notifications/initialized')
              live.heard++
            return
          }
          const isOwn = String(message.id).startsWith('__')
          if (!isOwn) live.heard++
          if (/"kind":"(?:lost|cancelled)"/.test(text)) return
          if (text.includes('"kind":"asking"')) onText('{"jsonrpc":"2.0","id":"q","method":"ping"}')
          const result = isOwn
            ? message.method === 'tools/list'
              ? { tools: [{ name: 'search', annotations: { readOnlyHint: true } }] }
              : OPENING
            : message.method === 'tools/list'
              ? { tools: [] }
              : answerOf(0, 'found')['result']
          setImmediate(() => onText(JSON.stringify({ jsonrpc: '2.0', id: message.id, result })))
        },
        close: async () => {},
      }),
    } satisfies ReplayTarget,
  }
  return live
}

const OPENING = {
  protocolVersion: '2025-11-25',
  supportedVersions: ['2026-07-28'],
  capabilities: { tools: {} },
  serverInfo: { name: 'recorded-server', version: '1' },
}
