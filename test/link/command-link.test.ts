import { expect, test } from 'vitest'
import { stdioLink } from '../../src/link/stdio.ts'
import { sdkTransportLink } from '../../src/link/sdk-transport.ts'
import { fixtureServer, until } from '../support/recorder.ts'
import { answer, opened, request } from './link.ts'

/** A server that is a line of JavaScript. */
function inline(code: string): readonly [string, ...string[]] {
  return [process.execPath, '-e', code]
}

const ANSWERING = `
  require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => {
    const { id } = JSON.parse(line)
    console.log(JSON.stringify({ jsonrpc: '2.0', id, result: {} }))
  })`

test('requests are sent in order, and responses arrive unchanged', async () => {
  const { link, texts, count } = await opened(stdioLink({ command: inline(ANSWERING) }))
  for (const id of [1, 2, 3]) link.send(request(id))
  await count(3)
  expect(texts).toEqual([answer(1), answer(2), answer(3)])
})

test('the end of a server is reported with its exit code', async () => {
  const { ends } = await opened(stdioLink({ command: inline('process.exit(7)') }))
  await until(() => ends.length > 0)
  expect(ends).toEqual(['the server ended with exit code 7'])
})

test('a server that closes its output and stays is not waited for', async () => {
  const code = "require('node:fs').closeSync(1); setInterval(() => {}, 1000)"
  const { ends } = await opened(stdioLink({ command: inline(code) }))
  await until(() => ends.length > 0)
  expect(ends).toEqual(['the server closed its output'])
})

test('the last output of a server is received, even without a newline', async () => {
  const { texts, ends } = await opened(stdioLink({ command: inline("process.stdout.write('oops')") }))
  await until(() => ends.length > 0)
  expect(texts).toEqual(['oops'])
})

test('a server that does not exit is ended with the link, which can be closed twice', async () => {
  const { link, ends } = await opened(
    stdioLink({ command: fixtureServer('stay-whatever-happens') as [string] }),
  )
  await Promise.all([link.close(), link.close()])
  await until(() => ends.length > 0)
  expect(ends).toEqual([expect.stringMatching(/^the server was ended by SIG(KILL|TERM)$/)])
})

test('a command that does not exist is rejected at once', async () => {
  await expect(opened(stdioLink({ command: ['no-such-command-at-all'] }))).rejects.toMatchObject({
    code: 'COMMAND_NOT_FOUND',
  })
})

test('a transport that cannot send ends the link, with the reason', async () => {
  const transport = {
    start: async () => {},
    send: async () => Promise.reject(new Error('the pipe is gone')),
    close: async () => {},
  }
  const { link, ends } = await opened(sdkTransportLink(transport))
  link.send(request(1))
  await until(() => ends.length > 0)
  expect(ends).toEqual(['the pipe is gone'])
})
