// Ids that the server makes up, and that the client sends back: what stands for one thing has to stay one value.

export const idScenes = [
  {
    name: 'ids',
    shape: 'ids',
    document: {
      made: { kind: 'note', version: 1 },
      got: { title: 'Shopping', owner: 'ada' },
      isGotWrong: false,
      isTextWrong: false,
      isListWrong: false,
      isIdShort: false,
      isIdNumber: false,
      isLinkWrong: false,
      isUnknown: false,
      listed: ['draft', 'final'],
    },
    play: async ({ call }) => {
      const made = await call('make', { title: 'Shopping' })
      const id = made.structuredContent.id
      await call('get', { id })
      await call('list-made')
      await call('tell', { id })
    },
    tools: {
      make: (document, { session, uuid, beside }) => {
        session.id = document.isIdNumber ? 100000 + Math.floor(Math.random() * 900000) : uuid()
        if (document.isIdShort) session.id = session.id.slice(0, 8)
        return structured({ id: session.id, ...document.made, ...beside() })
      },
      get: (document, { session, uuid, beside, args }) =>
        structured({
          id: document.isGotWrong ? uuid() : session.id,
          known: args.id === session.id && !document.isUnknown,
          ...document.got,
          ...beside(),
        }),
      'list-made': (document, { session, uuid, beside }) =>
        structured({
          notes: document.listed.map((state) => ({
            note: document.isListWrong ? uuid() : session.id,
            state,
          })),
          ...beside(),
        }),
      tell: (document, { session, uuid, fill }) => ({
        content: [
          {
            type: 'text',
            text: fill(
              `Note ${document.isTextWrong ? uuid() : session.id} is at https://notes.example/${document.isLinkWrong ? uuid() : session.id} (seen {{time}})`,
            ),
          },
        ],
      }),
    },
    changes: [
      {
        id: 'other-id-for-the-same-thing',
        set: ['isGotWrong', true],
        step: 'get',
        path: 'result.structuredContent.id',
        token: '',
      },
      {
        id: 'other-id-in-list',
        set: ['isListWrong', true],
        step: 'list-made',
        path: 'result.structuredContent.notes',
        token: '',
      },
      {
        id: 'other-id-in-text',
        set: ['isTextWrong', true],
        step: 'tell',
        path: 'result.content[0].text',
        token: '',
      },
      {
        id: 'other-id-in-link',
        set: ['isLinkWrong', true],
        step: 'tell',
        path: 'result.content[0].text',
        token: '',
      },
      {
        id: 'id-is-short',
        set: ['isIdShort', true],
        step: 'make',
        path: 'result.structuredContent.id',
        token: '',
      },
      {
        id: 'id-is-a-number',
        set: ['isIdNumber', true],
        step: 'make',
        path: 'result.structuredContent.id',
        token: '',
      },
      {
        id: 'not-known',
        set: ['isUnknown', true],
        step: 'get',
        path: 'result.structuredContent.known',
        token: '',
      },
      {
        id: 'value-beside-new-id',
        set: ['made.version', 2],
        step: 'make',
        path: 'result.structuredContent.version',
      },
      {
        id: 'value-beside-carried-id',
        set: ['got.owner', 'bob'],
        step: 'get',
        path: 'result.structuredContent.owner',
      },
      {
        id: 'item-gone',
        drop: 'listed[1]',
        step: 'list-made',
        path: 'result.structuredContent.notes',
        token: '',
      },
      { id: 'order', swap: ['listed', 0, 1], step: 'list-made', path: 'result.structuredContent.notes' },
    ],
  },
  {
    name: 'files',
    shape: 'several calls of one tool',
    document: { a: 'price 10 EUR\nvat 19 %\n', b: 'steady', log: 'seen {{uuid}} at {{time}}' },
    play: async ({ call }) => {
      await call('read', { file: 'a' }, 'read-a')
      await call('read', { file: 'log' }, 'read-log')
      await call('read', { file: 'b' }, 'read-b')
    },
    tools: {
      read: (document, { args, fill }) => ({ content: [{ type: 'text', text: fill(document[args.file]) }] }),
    },
    path: 'result.content[0].text',
    changes: [
      { id: 'rewritten', set: ['a', 'all gone'], step: 'read-a', token: '' },
      { id: 'one-number', replace: ['a', '10', '11'], step: 'read-a' },
      { id: 'line-gone', replace: ['a', 'vat 19 %\n', ''], step: 'read-a', token: 'vat' },
      { id: 'word', set: ['b', 'shaky'], step: 'read-b' },
      { id: 'empty', set: ['b', ''], step: 'read-b' },
      { id: 'fixed-part-of-volatile', replace: ['log', 'seen', 'lost'], step: 'read-log' },
    ],
  },
]

function structured(value) {
  return { content: [{ type: 'text', text: 'ok' }], structuredContent: value }
}
