// The thinnest pass-through proxy that Node can be: what any proxy costs, without recording.
import { Agent, createServer, request } from 'node:http'

const { hostname: host, port } = new URL(process.argv[2])
const agent = new Agent({ keepAlive: true, noDelay: true, scheduling: 'lifo' })

const server = createServer({ keepAliveTimeout: 60_000 }, (req, res) => {
  const { method, url: path, headers } = req
  const out = request({ host, port, method, path, headers, agent }, (answer) => {
    res.writeHead(answer.statusCode, answer.headers)
    answer.on('data', (chunk) => res.write(chunk))
    answer.on('end', () => res.end())
  })
  req.on('data', (chunk) => out.write(chunk))
  req.on('end', () => out.end())
})
server.listen(0, '127.0.0.1', () => console.log(`http://127.0.0.1:${server.address().port}`))
