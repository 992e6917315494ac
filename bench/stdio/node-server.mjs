// A bare MCP server in Node, as quick to start as Node is.
process.stdin.on('data', (chunk) => {
  for (const line of chunk.toString().split('\n').filter(Boolean)) {
    const { id } = JSON.parse(line)
    if (id === undefined) continue
    const result = {
      protocolVersion: '2025-06-18',
      capabilities: {},
      serverInfo: { name: 'bare', version: '1' },
    }
    process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', id, result })}\n`)
  }
})
