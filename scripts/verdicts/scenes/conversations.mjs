// What a server sends besides its response: progress, logs, questions, tasks and changes.

export const conversationScenes = [
  {
    name: 'progress',
    shape: 'progress',
    document: {
      steps: [
        { progress: 1, total: 4, message: 'Reading {{hex}}' },
        { progress: 2, total: 4, message: 'Parsing' },
        { progress: 3, total: 4, message: 'Linking' },
        { progress: 4, total: 4, message: 'Writing' },
      ],
    },
    path: '',
    play: async ({ call }) => call('progress', {}, 'progress', { progressToken: 'p-1' }),
    tools: {
      progress: async ({ steps }, { progress, fill, beside }) => {
        for (const step of steps)
          await progress({ ...step, ...(step.message && { message: fill(step.message) }) })
        return { content: [{ type: 'text', text: 'done' }], structuredContent: { ok: true, ...beside() } }
      },
    },
    changes: [
      { id: 'message', set: ['steps[1].message', 'Guessing'] },
      { id: 'message-gone', drop: 'steps[2].message' },
      { id: 'total', set: ['steps[1].total', 5] },
      { id: 'total-gone', drop: 'steps[3].total', token: '' },
      { id: 'one-less', drop: 'steps[1]', token: '' },
      { id: 'last-gone', drop: 'steps[3]', token: '' },
      { id: 'one-more', add: ['steps[4]', { progress: 5, total: 4, message: 'Again' }] },
      { id: 'none', set: ['steps', []], token: '' },
      { id: 'not-growing', set: ['steps[2].progress', 1], token: '' },
      { id: 'value', set: ['steps[1].progress', 2.5], token: '2.5' },
      { id: 'order-of-messages', swap: ['steps', 1, 2] },
    ],
  },
  {
    name: 'logs',
    shape: 'logs',
    document: {
      logs: [
        { level: 'info', logger: 'db', data: { event: 'open', rows: 10 } },
        { level: 'warning', logger: 'db', data: 'slow query in {{ms}} ms on orders' },
        { level: 'info', logger: 'http', data: { event: 'sent', bytes: 2048 } },
      ],
    },
    path: '',
    play: async ({ call, ask, era }) => {
      if (era === 'legacy') await ask('level', 'logging/setLevel', { level: 'info' })
      await call('logs', {}, 'logs', { 'io.modelcontextprotocol/logLevel': 'info' })
    },
    step: 'logs',
    tools: {
      logs: async ({ logs }, { notify, fill, beside }) => {
        for (const log of logs)
          await notify('notifications/message', {
            ...log,
            data: typeof log.data === 'string' ? fill(log.data) : log.data,
          })
        return { content: [{ type: 'text', text: 'done' }], structuredContent: { ok: true, ...beside() } }
      },
    },
    changes: [
      { id: 'level', set: ['logs[0].level', 'error'] },
      { id: 'level-of-volatile', set: ['logs[1].level', 'info'], token: '' },
      { id: 'logger', set: ['logs[2].logger', 'smtp'] },
      { id: 'data', set: ['logs[0].data.rows', 11], token: '11' },
      { id: 'data-member-gone', drop: 'logs[2].data.bytes', token: '' },
      { id: 'text-of-volatile', replace: ['logs[1].data', 'orders', 'users'] },
      { id: 'one-gone', drop: 'logs[2]', token: '' },
      { id: 'first-gone', drop: 'logs[0]', token: '' },
      { id: 'one-more', add: ['logs[3]', { level: 'error', logger: 'db', data: 'lost connection' }] },
      { id: 'all-gone', set: ['logs', []], token: '' },
    ],
  },
  {
    name: 'sampling',
    shape: 'sampling',
    document: {
      question: {
        messages: [{ role: 'user', content: { type: 'text', text: 'Summarise the plan in 2 lines' } }],
        systemPrompt: 'You are terse',
        maxTokens: 100,
      },
      isAsked: true,
      isAskedTwice: false,
      text: 'Summary:',
    },
    path: '',
    play: async ({ call }) => call('sampling'),
    tools: {
      sampling: async ({ question, isAsked, isAskedTwice, text }, { question: put, beside }) => {
        const answer = isAsked ? await put('summary', 'sampling/createMessage', question) : undefined
        if (isAskedTwice) await put('second', 'sampling/createMessage', { ...question, maxTokens: 7 })
        return {
          content: [{ type: 'text', text: `${text} ${answer?.content?.text ?? 'none'}` }],
          structuredContent: { asked: true, ...beside() },
        }
      },
    },
    changes: [
      {
        id: 'prompt',
        replace: ['question.messages[0].content.text', '2 lines', '9 words'],
        token: '9 words',
      },
      { id: 'system-prompt', set: ['question.systemPrompt', 'You are verbose'] },
      { id: 'limit', set: ['question.maxTokens', 500], token: '500' },
      { id: 'role', set: ['question.messages[0].role', 'assistant'], token: '' },
      {
        id: 'message-new',
        add: ['question.messages[1]', { role: 'user', content: { type: 'text', text: 'Be quick' } }],
      },
      { id: 'not-asked', set: ['isAsked', false], token: '' },
      { id: 'asked-twice', set: ['isAskedTwice', true], token: '' },
      { id: 'result', set: ['text', 'Verdict:'], step: 'sampling' },
    ],
  },
  {
    name: 'elicitation',
    shape: 'elicitation',
    document: {
      question: {
        mode: 'form',
        message: 'Delete 3 files?',
        requestedSchema: {
          type: 'object',
          properties: { sure: { type: 'boolean' }, why: { type: 'string', enum: ['old', 'wrong'] } },
          required: ['sure'],
        },
      },
      isAsked: true,
      text: 'Deleted 3 files',
    },
    path: '',
    play: async ({ call }) => call('elicitation'),
    tools: {
      elicitation: async ({ question, isAsked, text }, { question: put, beside }) => {
        const answer = isAsked ? await put('confirm', 'elicitation/create', question) : { action: 'none' }
        return {
          content: [{ type: 'text', text: answer.action === 'accept' ? text : 'Kept' }],
          structuredContent: { done: true, ...beside() },
        }
      },
    },
    changes: [
      { id: 'message', set: ['question.message', 'Delete 30 files?'] },
      { id: 'field-type', set: ['question.requestedSchema.properties.sure.type', 'string'] },
      {
        id: 'field-new',
        add: ['question.requestedSchema.properties.when', { type: 'string' }],
        token: 'when',
      },
      { id: 'field-gone', drop: 'question.requestedSchema.properties.why', token: '' },
      { id: 'enum', set: ['question.requestedSchema.properties.why.enum[0]', 'broken'] },
      { id: 'required', set: ['question.requestedSchema.required', ['sure', 'why']], token: '' },
      { id: 'not-asked', set: ['isAsked', false], token: '' },
      { id: 'result', set: ['text', 'Deleted 2 files'], step: 'elicitation', token: '2' },
    ],
  },
  {
    name: 'roots',
    shape: 'roots and two rounds',
    document: { order: ['roots', 'form'], first: 'Which branch?', text: 'Root is set' },
    path: '',
    play: async ({ call }) => call('roots'),
    tools: {
      roots: async ({ order, first, text }, { question, beside }) => {
        for (const kind of order)
          await (kind === 'roots'
            ? question('roots', 'roots/list', undefined)
            : question('form', 'elicitation/create', {
                mode: 'form',
                message: first,
                requestedSchema: { type: 'object', properties: { sure: { type: 'boolean' } } },
              }))
        return { content: [{ type: 'text', text }], structuredContent: { ok: true, ...beside() } }
      },
    },
    changes: [
      { id: 'rounds-exchanged', swap: ['order', 0, 1] },
      { id: 'first-round-gone', drop: 'order[0]', token: '' },
      { id: 'last-round-gone', drop: 'order[1]', token: '' },
      { id: 'message-of-last-round', set: ['first', 'Which tag?'], step: 'roots' },
      { id: 'result', set: ['text', 'Root is lost'], step: 'roots' },
    ],
  },
  {
    name: 'tasks',
    shape: 'tasks',
    document: {
      created: { status: 'working', statusMessage: 'Queued', ttl: 60000, pollInterval: 50 },
      later: { status: 'completed', statusMessage: 'All done' },
      text: 'Report has 12 pages',
    },
    path: '',
    play: async ({ call, ask, era }) => {
      const { task = {}, taskId = task.taskId } = await call(
        'tasks',
        {},
        'create',
        {},
        { task: { ttl: 60000 } },
      )
      await ask('poll', 'tasks/get', { taskId })
      if (era === 'legacy') await ask('result', 'tasks/result', { taskId })
    },
    step: 'poll',
    tools: {
      tasks: (document, { taskOf, era }) => {
        const task = taskOf(document.created)
        return era === 'legacy' ? { task } : { resultType: 'task', ...task }
      },
    },
    methods: {
      'tasks/get': (document, { taskOf, era, beside }) => ({
        ...taskOf({ ...document.created, ...document.later }),
        ...(era === 'modern' &&
          document.later.status === 'completed' && { result: taskResult(document, beside) }),
      }),
      'tasks/result': (document, { beside }) => taskResult(document, beside),
    },
    changes: [
      { id: 'fails', set: ['later.status', 'failed'] },
      { id: 'still-working', set: ['later.status', 'working'] },
      { id: 'message', set: ['later.statusMessage', 'Nearly done'] },
      { id: 'message-gone', drop: 'later.statusMessage', token: '' },
      { id: 'first-status', set: ['created.status', 'input_required'], step: 'create' },
      { id: 'first-message', set: ['created.statusMessage', 'Started'], step: 'create' },
      { id: 'time-to-live', set: ['created.ttl', 1000], step: 'create' },
      { id: 'poll-interval', set: ['created.pollInterval', 75], step: 'create', token: '75' },
      { id: 'result', replace: ['text', '12 pages', '13 pages'], step: { legacy: 'result', modern: 'poll' } },
    ],
  },
  {
    name: 'updates',
    shape: 'subscriptions',
    document: {
      granted: { toolsListChanged: true, resourceSubscriptions: ['doc://a', 'doc://b'] },
      updated: ['doc://a', 'doc://b'],
      listChanged: ['tools'],
      text: 'Touched',
    },
    path: '',
    step: 'anywhere',
    play: async ({ call, ask, listen, era }) => {
      if (era === 'legacy') {
        await ask('subscribe-a', 'resources/subscribe', { uri: 'doc://a' })
        await ask('subscribe-b', 'resources/subscribe', { uri: 'doc://b' })
        return call('touch')
      }
      const { over } = await listen('listen', {
        toolsListChanged: true,
        resourceSubscriptions: ['doc://a', 'doc://b'],
      })
      await call('touch')
      await over
    },
    methods: {
      'resources/subscribe': () => ({}),
      'subscriptions/listen': ({ granted }, { hold }) => hold(granted),
    },
    tools: {
      touch: async ({ updated, listChanged, text }, { publish, finish, beside }) => {
        for (const uri of updated) await publish('notifications/resources/updated', { uri })
        for (const kind of listChanged) await publish(`notifications/${kind}/list_changed`, {})
        await finish()
        return { content: [{ type: 'text', text }], structuredContent: { ok: true, ...beside() } }
      },
    },
    changes: [
      { id: 'update-lost', drop: 'updated[1]', token: '' },
      { id: 'all-updates-lost', set: ['updated', []], token: '' },
      { id: 'other-uri', set: ['updated[0]', 'doc://zz'], token: '' },
      { id: 'update-twice', add: ['updated[2]', 'doc://b'], token: '' },
      { id: 'list-changed-lost', drop: 'listChanged[0]', token: '' },
      { id: 'list-changed-unsolicited', add: ['listChanged[1]', 'prompts'], token: '' },
      { id: 'grants-less', drop: 'granted.resourceSubscriptions', eras: ['modern'], token: '' },
      { id: 'grants-one-less', drop: 'granted.resourceSubscriptions[1]', eras: ['modern'], token: '' },
      { id: 'grants-no-lists', set: ['granted.toolsListChanged', false], eras: ['modern'], token: '' },
    ],
  },
]

function taskResult({ text }, beside) {
  return { content: [{ type: 'text', text }], structuredContent: { ok: true, ...beside() } }
}
