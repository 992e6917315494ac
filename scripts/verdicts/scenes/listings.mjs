// What a server offers: tools and their schemas, resources, templates, prompts, completions, and lists in pages.

export const listingScenes = [
  {
    name: 'tools-list',
    shape: 'schemas',
    document: {
      tools: [
        {
          name: 'search',
          title: 'Search',
          description: 'Finds documents',
          inputSchema: {
            type: 'object',
            properties: {
              q: { type: 'string', minLength: 1 },
              limit: { type: 'integer', default: 10, maximum: 50 },
              order: { enum: ['asc', 'desc'] },
            },
            required: ['q'],
          },
          outputSchema: { type: 'object', properties: { hits: { type: 'integer' } }, required: ['hits'] },
          annotations: { readOnlyHint: true, idempotentHint: true },
        },
        {
          name: 'delete',
          description: 'Deletes a document',
          inputSchema: { type: 'object' },
          annotations: { destructiveHint: true },
        },
        {
          name: 'ping-me',
          description: 'Answers',
          inputSchema: { type: 'object' },
          annotations: { readOnlyHint: true },
        },
      ],
    },
    root: 'result',
    play: async ({ ask }) => ask('tools', 'tools/list', {}),
    step: 'tools',
    methods: { 'tools/list': ({ tools }, { meta, cached }) => ({ tools, ...cached(), ...meta() }) },
    changes: [
      { id: 'tool-gone', drop: 'tools[2]', token: '' },
      {
        id: 'tool-new',
        add: ['tools[3]', { name: 'extra', inputSchema: { type: 'object' } }],
        token: 'extra',
      },
      { id: 'tool-renamed', set: ['tools[0].name', 'find'] },
      { id: 'tools-exchanged', swap: ['tools', 0, 2] },
      { id: 'description', set: ['tools[0].description', 'Finds files'] },
      { id: 'title', set: ['tools[0].title', 'Find'] },
      { id: 'argument-type', set: ['tools[0].inputSchema.properties.limit.type', 'string'] },
      { id: 'argument-default', set: ['tools[0].inputSchema.properties.limit.default', 20] },
      { id: 'argument-gone', drop: 'tools[0].inputSchema.properties.order', token: '' },
      {
        id: 'argument-new',
        add: ['tools[0].inputSchema.properties.page', { type: 'integer' }],
        token: 'page',
      },
      { id: 'enum', set: ['tools[0].inputSchema.properties.order.enum[1]', 'down'] },
      { id: 'required-new', add: ['tools[0].inputSchema.required[1]', 'limit'], token: 'limit' },
      { id: 'required-gone', drop: 'tools[0].inputSchema.required', token: '' },
      { id: 'output-schema-type', set: ['tools[0].outputSchema.properties.hits.type', 'string'] },
      { id: 'output-schema-gone', drop: 'tools[0].outputSchema', token: '' },
      { id: 'read-only-hint', set: ['tools[0].annotations.readOnlyHint', false], token: '' },
      { id: 'destructive-hint-gone', drop: 'tools[1].annotations', token: '' },
    ],
  },
  {
    name: 'pages',
    shape: 'paging',
    document: {
      pages: [['alpha', 'beta'], ['gamma', 'delta'], ['omega']],
      isLastEndless: false,
    },
    path: 'result',
    play: async ({ ask }) => {
      let page = await ask('page-1', 'resources/list', {})
      for (let n = 2; page.nextCursor !== undefined && n < 5; n += 1)
        page = await ask(`page-${n}`, 'resources/list', { cursor: page.nextCursor })
    },
    methods: {
      'resources/list': ({ pages, isLastEndless }, { params, id, session, meta, cached }) => {
        session.cursors ??= new Map()
        const page = params.cursor === undefined ? 0 : session.cursors.get(params.cursor)
        if (page === undefined) return { rpcError: { code: -32602, message: 'Unknown cursor' } }
        const nextCursor = id('cursor', page + 1)
        session.cursors.set(nextCursor, page + 1)
        return {
          resources: (pages[page] ?? []).map((name) => ({ uri: `file:///${name}`, name })),
          ...((page + 1 < pages.length || isLastEndless) && { nextCursor }),
          ...cached(),
          ...meta(),
        }
      },
    },
    changes: [
      { id: 'ends-early', drop: 'pages[2]', step: 'page-2', token: '' },
      { id: 'never-ends', set: ['isLastEndless', true], step: 'page-3', token: '' },
      { id: 'overlap', set: ['pages[1][0]', 'beta'], step: 'page-2' },
      { id: 'item-gone', drop: 'pages[0][1]', step: 'page-1' },
      { id: 'item-new', add: ['pages[2][1]', 'sigma'], step: 'page-3', token: 'sigma' },
      { id: 'order', swap: ['pages[1]', 0, 1], step: 'page-2' },
      { id: 'pages-exchanged', swap: ['pages', 0, 1], step: 'page-1' },
      { id: 'name', set: ['pages[2][0]', 'OMEGA'], step: 'page-3' },
    ],
  },
  {
    name: 'resources',
    shape: 'resources',
    document: {
      templates: [{ uriTemplate: 'doc://{id}', name: 'document', mimeType: 'text/plain' }],
      a: { uri: 'doc://a', mimeType: 'text/plain', text: 'Chapter 1: price 10 EUR' },
      b: { uri: 'doc://b', mimeType: 'application/octet-stream', blob: 'AAECAwQ=' },
      c: {
        uri: 'doc://c',
        mimeType: 'application/json',
        text: '{"rate":3,"tags":["x","y"],"trace":"{{uuid}}"}',
      },
    },
    play: async ({ ask }) => {
      await ask('templates', 'resources/templates/list', {})
      await ask('a', 'resources/read', { uri: 'doc://a' })
      await ask('c', 'resources/read', { uri: 'doc://c' })
      await ask('b', 'resources/read', { uri: 'doc://b' })
    },
    methods: {
      'resources/templates/list': ({ templates }, { meta, cached }) => ({
        resourceTemplates: templates,
        ...cached(),
        ...meta(),
      }),
      'resources/read': (document, { params, fill, cached }) => {
        const found = document[params.uri.slice(6)]
        if (found === undefined) return { rpcError: { code: -32602, message: 'Resource not found' } }
        const contents = [{ ...found, ...(found.text !== undefined && { text: fill(found.text) }) }]
        return { contents, ...cached() }
      },
    },
    path: 'result',
    changes: [
      { id: 'text', replace: ['a.text', '10 EUR', '12 EUR'], step: 'a' },
      { id: 'text-rewritten', set: ['a.text', 'all gone'], step: 'a', token: '' },
      { id: 'type', set: ['a.mimeType', 'text/markdown'], step: 'a' },
      { id: 'uri', set: ['a.uri', 'doc://other'], step: 'a' },
      { id: 'gone', drop: 'a', step: 'a', token: '', path: '' },
      { id: 'blob', set: ['b.blob', 'AAECAwU='], step: 'b' },
      { id: 'json-value', replace: ['c.text', '"rate":3', '"rate":4'], step: 'c', token: '4' },
      { id: 'json-order', replace: ['c.text', '"x","y"', '"y","x"'], step: 'c', token: '' },
      { id: 'template', set: ['templates[0].uriTemplate', 'doc://v2/{id}'], step: 'templates' },
      { id: 'template-gone', drop: 'templates[0]', step: 'templates', token: '' },
    ],
  },
  {
    name: 'prompts',
    shape: 'prompts',
    document: {
      prompts: [
        {
          name: 'review',
          description: 'Reviews code',
          arguments: [{ name: 'file', required: true }, { name: 'tone' }],
        },
        { name: 'greet', description: 'Says hello' },
      ],
      description: 'A review',
      messages: [
        { role: 'user', content: { type: 'text', text: 'Review main.ts strictly. Ticket {{uuid}}.' } },
        { role: 'assistant', content: { type: 'text', text: 'I look at 3 points.' } },
      ],
      values: ['alpha', 'alpine', 'alps'],
      total: 3,
    },
    play: async ({ ask }) => {
      await ask('prompts', 'prompts/list', {})
      await ask('get', 'prompts/get', { name: 'review', arguments: { file: 'main.ts' } })
      await ask('complete', 'completion/complete', {
        ref: { type: 'ref/prompt', name: 'review' },
        argument: { name: 'tone', value: 'al' },
      })
    },
    methods: {
      'prompts/list': ({ prompts }, { meta, cached }) => ({ prompts, ...cached(), ...meta() }),
      'prompts/get': ({ description, messages }, { fill }) => ({
        description,
        messages: messages.map(({ role, content }) => ({
          role,
          content: { ...content, text: fill(content.text) },
        })),
      }),
      'completion/complete': ({ values, total }, { meta }) => ({
        completion: { values, total, hasMore: false },
        ...meta(),
      }),
    },
    path: 'result',
    changes: [
      { id: 'prompt-gone', drop: 'prompts[1]', step: 'prompts', token: '' },
      { id: 'prompt-description', set: ['prompts[0].description', 'Reviews text'], step: 'prompts' },
      {
        id: 'argument-optional',
        set: ['prompts[0].arguments[0].required', false],
        step: 'prompts',
        token: '',
      },
      { id: 'argument-gone', drop: 'prompts[0].arguments[1]', step: 'prompts', token: '' },
      { id: 'prompts-exchanged', swap: ['prompts', 0, 1], step: 'prompts' },
      { id: 'text', replace: ['messages[0].content.text', 'strictly', 'kindly'], step: 'get' },
      {
        id: 'number',
        replace: ['messages[1].content.text', '3 points', '4 points'],
        step: 'get',
        token: '4',
      },
      { id: 'role', set: ['messages[1].role', 'user'], step: 'get' },
      { id: 'message-gone', drop: 'messages[1]', step: 'get', token: '' },
      { id: 'messages-exchanged', swap: ['messages', 0, 1], step: 'get' },
      { id: 'description', set: ['description', 'A short review'], step: 'get' },
      { id: 'completion-value', set: ['values[1]', 'alto'], step: 'complete' },
      { id: 'completion-order', swap: ['values', 0, 2], step: 'complete' },
      { id: 'completion-total', set: ['total', 30], step: 'complete' },
    ],
  },
]
