import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { sharedFolder } from '../support/shared-folder.ts'
import { filesystemSession } from './filesystem-session.ts'
import { describeServer, referenceServer } from './reference-server.ts'

const folder = join(sharedFolder(), 'files')

describeServer({
  name: 'server-filesystem',
  command: referenceServer('server-filesystem', folder),
  answers: { root: pathToFileURL(folder).href, elicited: {} },
  session: (session) => filesystemSession(session, folder),
  speaks: { asks: ['roots/list'], tells: [], progress: 0 },
  prepare: () => {
    mkdirSync(join(folder, 'empty'), { recursive: true })
    writeFileSync(join(folder, 'notes.txt'), 'first\nsecond\n')
  },
  remove: () => rmSync(folder, { recursive: true }),
})
