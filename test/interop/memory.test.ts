import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { sharedFolder } from '../support/shared-folder.ts'
import { memorySession } from './memory-session.ts'
import { describeServer, referenceServer } from './reference-server.ts'

const MEMORY_FILE_PATH = join(sharedFolder(), 'graph.jsonl')

describeServer({
  name: 'server-memory',
  command: referenceServer('server-memory'),
  env: { MEMORY_FILE_PATH },
  answers: { root: 'file:///nowhere', elicited: {} },
  session: memorySession,
  speaks: { asks: [], tells: ['notifications/resources/updated'], progress: 0 },
  remove: () => rmSync(MEMORY_FILE_PATH),
})
