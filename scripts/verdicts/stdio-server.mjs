// The server over stdio. Its settings come from the environment, so that the same command can be recorded and verified.
import { createInterface } from 'node:readline'
import { createConnection } from './server.mjs'

const connection = createConnection(JSON.parse(process.env.VERDICTS_SETTINGS))

async function send(message) {
  process.stdout.write(`${JSON.stringify(message)}\n`)
}

createInterface({ input: process.stdin }).on('line', (line) => {
  connection.receive(JSON.parse(line), send).catch((failure) => {
    process.stderr.write(`${failure.stack}\n`)
    process.exit(1)
  })
})
