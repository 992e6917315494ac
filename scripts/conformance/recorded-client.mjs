// The fixture client behind a reverse proxy: the suite starts this with the scenario's URL as last argument.
import { join } from 'node:path'
import { ended, start } from '../processes.mjs'
import { startRecorder } from '../recorder.mjs'
import { root } from '../run.mjs'
import { suiteNode } from './suite.mjs'

// The suite ends a client that takes too long; the recorder must end with it.
process.on('SIGTERM', () => process.exit(143))
const file = join(root, 'test', 'fixtures', 'clients', 'conformance.mjs')
const recorder = await startRecorder({ url: process.argv.at(-1), tape: process.env.CONFORMANCE_TAPE })
const client = start([suiteNode, file, recorder.url], { stdio: 'inherit' })
const code = await ended(client)
await recorder.stop()
process.exitCode = code ?? 1
