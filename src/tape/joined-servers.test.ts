import { expect, test } from 'vitest'
import type { EventFrame } from './frame.ts'
import { withLateServers } from './joined-servers.ts'
import type { TapeHeader } from './header.ts'

const HEADER: TapeHeader = {
  reelay: 1,
  id: 'a',
  started: '2026-11-15T07:20:59Z',
  by: 'b',
  servers: { first: { transport: 'stdio' } },
  tags: {},
}

const joins = (server: string, details: EventFrame['details']): EventFrame => ({
  kind: 'event',
  n: 1,
  t: 0,
  server,
  event: 'server',
  details,
})

test('servers that joined late stand behind those of the header, with what is known of them', () => {
  const frames = [
    joins('second', { transport: 'stdio', command: ['a', 'b'], env: ['TOKEN'] }),
    joins('third', { transport: 'http', url: 'http://a.test/mcp' }),
  ]
  expect(withLateServers(HEADER, frames).servers).toEqual({
    first: { transport: 'stdio' },
    second: { transport: 'stdio', command: ['a', 'b'], env: ['TOKEN'] },
    third: { transport: 'http', url: 'http://a.test/mcp' },
  })
})

test('what was edited by hand is read as far as it makes sense', () => {
  expect(withLateServers(HEADER, [joins('odd', { transport: 7, command: 'x' })]).servers).toHaveProperty(
    'odd',
    { transport: 'unknown' },
  )
})

test('a tape whose servers are all in the header keeps that very header', () => {
  expect(withLateServers(HEADER, [{ ...joins('x', {}), event: 'start' }])).toBe(HEADER)
})
