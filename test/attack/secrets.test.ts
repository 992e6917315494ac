import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { ask, httpServer, post, startRecorder } from '../support/http.ts'

test('record --url prints no secret of the URL, and the server still gets it', async () => {
  const paths: string[] = []
  const { origin } = await httpServer((req, res) => {
    paths.push(req.url ?? '')
    res.writeHead(200, { 'Content-Type': 'application/json' })
    res.end('{"jsonrpc":"2.0","id":1,"result":{}}')
  })
  const token = ['ghp', 'a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8'].join('_')
  const path = `/mcp/${token}?page=2&api_key=hunter2-xyz`
  const recorder = await startRecorder(origin + path)
  const ping = post({ jsonrpc: '2.0', id: 1, method: 'ping' })
  await ask(recorder.url, ping)
  await ask(new URL(path, recorder.url).href, ping)
  recorder.child.kill('SIGTERM')
  await recorder.exited
  expect(recorder.url).toMatch(/\/mcp\/ghp_\w+\?page=2$/)
  expect(paths).toEqual([path, path])
  const written = recorder.stderr() + readFileSync(recorder.tape, 'utf8')
  expect(written).not.toMatch(/hunter2|a1B2c3D4/)
})
