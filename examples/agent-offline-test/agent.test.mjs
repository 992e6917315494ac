import { expect, test } from 'vitest'
import { useTape } from 'reelay/vitest'
import { triage } from './agent.mjs'

test('the most discussed issue becomes urgent', async () => {
  const tape = await useTape('triage', { live: { command: 'node', args: ['server.mjs'] } })
  expect(await triage(await tape.transport(), 'login')).toBe('Login fails with a long password')
  expect(tape).toHaveCalled('add_label', { id: 7, label: 'urgent' })
  expect(tape).toHaveNoErrors()
})
