import { fixtureServer } from '../support/recorder.ts'
import { dualEraSession } from './dual-era-session.ts'
import { describeServer } from './reference-server.ts'

describeServer({
  name: 'a server of SDK v2, which speaks both eras',
  command: fixtureServer('modern'),
  answers: { root: 'file:///nowhere', elicited: { sure: true } },
  session: dualEraSession,
  speaks: { asks: ['elicitation/create'], tells: ['notifications/tools/list_changed'], progress: 3 },
})
