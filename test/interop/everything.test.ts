import { everythingSession } from './everything-session.ts'
import { describeServer, referenceServer } from './reference-server.ts'

describeServer({
  name: 'server-everything',
  command: referenceServer('server-everything', 'stdio'),
  answers: { root: 'file:///home/tester', elicited: { name: 'Zoë' } },
  session: everythingSession,
  speaks: {
    asks: ['roots/list', 'sampling/createMessage', 'elicitation/create'],
    tells: [
      'notifications/tools/list_changed',
      'notifications/message',
      'notifications/resources/updated',
      'notifications/resources/list_changed',
    ],
    progress: 4,
  },
})
