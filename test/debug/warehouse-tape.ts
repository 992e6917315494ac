import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fixtureServer, REELAY } from '../support/recorder.ts'

/**
 * Records a session with the warehouse: a list is opened, filled in three steps and counted after each of them, and removed. The
 * first call of the tool `unanswered` gets no response.
 */
export async function recordWarehouse(tape: string, id: string, unanswered = ''): Promise<void> {
  const args = [REELAY, 'record', '-q', '-o', tape, '--', ...fixtureServer('warehouse', id, '0', unanswered)]
  const recorder = spawn(process.execPath, args, { stdio: ['pipe', 'pipe', 'ignore'] })
  const lines = createInterface({ input: recorder.stdout })
  let next = 0
  let waiting = unanswered
  let isAnswered = true
  const request = async (method: string, params: object = {}): Promise<void> => {
    recorder.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id: next++, method, params })}\n`)
    if (isAnswered) await once(lines, 'line')
    isAnswered = true
  }
  const call = (name: string, given: object): Promise<void> => {
    isAnswered = name !== waiting
    if (!isAnswered) waiting = ''
    return request('tools/call', { name, arguments: given })
  }
  await request('initialize', {
    protocolVersion: '2025-11-25',
    capabilities: {},
    clientInfo: { name: 'clerk', version: '1' },
  })
  recorder.stdin.write('{"jsonrpc":"2.0","method":"notifications/initialized"}\n')
  await request('tools/list')
  await call('open_list', {})
  for (const count of [40, 70, 60]) {
    await call('add', { listId: id, count })
    await call('total', { listId: id })
  }
  await call('remove', { listId: id })
  recorder.stdin.end()
  await once(recorder, 'close')
}
