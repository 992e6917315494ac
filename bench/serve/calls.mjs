// The calls that every server of the serve bench answers: about 200 bytes each, 50 different ones.
export const ARGUMENTS = (n) => ({
  text: 'hello hello hello hello hello hello hello',
  n: n % 50,
  options: { deep: true, path: '/src/a/b' },
})
export const RESULT = { content: [{ type: 'text', text: 'x'.repeat(200) }] }

/** As the official client writes them: the id comes last. */
export function callText(id, n) {
  const params = { name: 'echo', arguments: ARGUMENTS(n) }
  return JSON.stringify({ method: 'tools/call', params, jsonrpc: '2.0', id })
}

export const INITIALIZE = JSON.stringify({
  method: 'initialize',
  params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'bench', version: '1' } },
  jsonrpc: '2.0',
  id: 'open',
})
export const INITIALIZED = JSON.stringify({ method: 'notifications/initialized', jsonrpc: '2.0' })

/** A tape that holds that many of these calls. */
export function tapeText(calls) {
  const lines = [
    '{"reelay":1,"id":"bench","started":"2026-11-15T00:00:00.000Z","by":"bench","servers":{"bench":{"transport":"stdio"}},"tags":{}}',
  ]
  const frame = (dir, text) =>
    lines.push(
      `{"n":${lines.length},"t":${lines.length},"server":"bench","conn":1,"dir":"${dir}","msg":${text}}`,
    )
  const info = { name: 'bench', version: '1' }
  const opened = { protocolVersion: '2025-11-25', capabilities: { tools: {} }, serverInfo: info }
  frame('c2s', INITIALIZE)
  frame('s2c', JSON.stringify({ result: opened, jsonrpc: '2.0', id: 'open' }))
  frame('c2s', INITIALIZED)
  for (let n = 0; n < calls; n++) {
    frame('c2s', callText(n, n))
    frame('s2c', JSON.stringify({ result: RESULT, jsonrpc: '2.0', id: n }))
  }
  lines.push(`{"n":${lines.length},"t":${lines.length},"event":"end","frames":${lines.length}}`, '')
  return lines.join('\n')
}
