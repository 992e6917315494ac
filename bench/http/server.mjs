// The server of the HTTP bench: a POST to /mcp/call is answered at once, one with a size in the query by as many bytes, one to /mcp/told by
// as many bytes as an event, another one by 300 events, 1 ms apart, that carry the time.
import { createServer } from 'node:http'

const ANSWER = answer(120)
const HEAD = { 'Content-Type': 'application/json', 'Content-Length': ANSWER.length }
/** The answers of other sizes, by their query. */
const sized = new Map()

const server = createServer({ keepAliveTimeout: 60_000 }, (req, res) => {
  req.resume()
  req.on('end', () => {
    if (req.url === '/mcp/call') res.writeHead(200, HEAD).end(ANSWER)
    else if (req.url.startsWith('/mcp/call?')) answerSized(res, req.url)
    else if (req.url.startsWith('/mcp/told?')) answerTold(res, req.url)
    else tell(res.writeHead(200, { 'Content-Type': 'text/event-stream' }), 300)
  })
})
server.listen(0, '127.0.0.1', () => console.log(`http://127.0.0.1:${server.address().port}`))

function answer(length) {
  return JSON.stringify({
    jsonrpc: '2.0',
    id: 1,
    result: { content: [{ type: 'text', text: 'x'.repeat(length) }] },
  })
}

function answerTold(res, url) {
  if (!sized.has(url)) {
    const message = answer(Number(url.split('?')[1]) - 80)
    sized.set(url, Buffer.from(`event: message\ndata: ${message}\n\n`))
  }
  res.writeHead(200, { 'Content-Type': 'text/event-stream' }).end(sized.get(url))
}

function answerSized(res, url) {
  if (!sized.has(url)) sized.set(url, Buffer.from(answer(Number(url.split('?')[1]) - 80)))
  const body = sized.get(url)
  res.writeHead(200, { 'Content-Type': 'application/json', 'Content-Length': body.length }).end(body)
}

function tell(res, left) {
  const timer = setInterval(() => {
    if (left-- === 0) {
      clearInterval(timer)
      return res.end(`data: ${ANSWER}\n\n`)
    }
    const at = performance.timeOrigin + performance.now()
    const params = { progressToken: 1, progress: 300 - left, at }
    res.write(`data: ${JSON.stringify({ jsonrpc: '2.0', method: 'notifications/progress', params })}\n\n`)
  }, 1)
}
