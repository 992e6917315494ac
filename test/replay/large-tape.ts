import { closeSync, openSync, writeSync } from 'node:fs'

/** Writes a tape of calls to `fixtures/servers/pages.mjs`, one after the other, each with an answer of so many characters. */
export function writeLargeTape(
  path: string,
  { calls, characters }: { calls: number; characters: number },
): void {
  const file = openSync(path, 'w')
  const servers = { pages: { transport: 'stdio' } }
  const line = (value: object): void => void writeSync(file, `${JSON.stringify(value)}\n`)
  line({ reelay: 1, id: 'large', started: '2026-11-15T00:00:00.000Z', by: 'test', servers, tags: {} })
  let n = 0
  const say = (dir: 'c2s' | 's2c', message: object): void =>
    line({ n: ++n, t: n, server: 'pages', conn: 1, dir, msg: message })
  const filling = 'abcdefghi '.repeat(characters / 10)
  for (let number = 1; number <= calls; number++) {
    const params = { name: 'page', arguments: { number, characters } }
    say('c2s', { method: 'tools/call', params, jsonrpc: '2.0', id: number })
    const content = [{ type: 'text', text: `page ${number} ${filling}` }]
    say('s2c', { result: { content }, jsonrpc: '2.0', id: number })
  }
  line({ n: ++n, t: n, event: 'end', frames: n })
  closeSync(file)
}
