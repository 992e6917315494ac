import { everythingSession } from './everything-session.ts'
import { describeServer, referenceServer } from './reference-server.ts'

describeServer({
  name: 'server-everything',
  command: referenceServer('server-everything', 'stdio'),
  answers: { root: 'file:///home/tester', elicited: { name: 'Zoë' } },
  session: everythingSession,
})
