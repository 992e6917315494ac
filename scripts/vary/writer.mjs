// Plays an ordinary session with the server of notes: node writer.mjs <URL>
const [url] = process.argv.slice(2)
let session
let lastId = 0
async function post(message) {
  const headers = {
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
    ...(session && { 'mcp-session-id': session, 'mcp-protocol-version': '2025-11-25' }),
  }
  const response = await fetch(url, {
    method: 'POST',
    headers,
    body: JSON.stringify({ jsonrpc: '2.0', ...message }),
  })
  session ??= response.headers.get('mcp-session-id') ?? undefined
  return response.text()
}
const request = async (method, params) => {
  const id = ++lastId
  const body = await post({ id, method, params })
  const messages = body
    .split('\n')
    .flatMap((line) => (/^(?:data: )?\{/.test(line) ? [JSON.parse(line.replace('data: ', ''))] : []))
  return messages.find((message) => message.id === id)?.result
}
const call = (name, given) => request('tools/call', { name, arguments: given })

await request('initialize', {
  protocolVersion: '2025-11-25',
  capabilities: {},
  clientInfo: { name: 'writer', version: '1.0.0' },
})
await post({ method: 'notifications/initialized' })
await request('tools/list', {})
const saved = []
for (const text of ['buy apples and tea', 'call Martha back'])
  saved.push(JSON.parse((await call('save_note', { text })).content[0].text).id)
for (const id of saved) await call('get_note', { id })
await call('list_notes', {})
await call('search', { word: 'a' })
await call('last_note', {})
await call('get_note', { id: '00000000-0000-4000-8000-000000000000' })
