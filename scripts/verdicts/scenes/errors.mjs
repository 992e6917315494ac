// Failures: errors of the protocol, and tools that say that they failed.

export const errorScenes = [
  {
    name: 'rpc-error',
    shape: 'errors',
    document: {
      error: {
        code: -32050,
        message: 'Quota exceeded',
        data: { limit: 10, used: 11, plans: ['free', 'pro'] },
      },
    },
    root: '',
    play: async ({ call }) => call('rpc-error'),
    tools: {
      'rpc-error': ({ error }, { beside }) =>
        error === undefined
          ? { content: [{ type: 'text', text: 'fine now' }] }
          : { rpcError: { ...error, ...(error.data && { data: { ...error.data, ...beside() } }) } },
    },
    changes: [
      { id: 'code', set: ['error.code', -32051], path: '' },
      { id: 'message', set: ['error.message', 'Quota reached'], path: '' },
      { id: 'data', set: ['error.data.limit', 20], path: '' },
      { id: 'data-member-gone', drop: 'error.data.used', path: '', token: 'used' },
      { id: 'data-gone', drop: 'error.data', path: '', token: '' },
      { id: 'data-order', swap: ['error.data.plans', 0, 1], path: '' },
      { id: 'error-gone', drop: 'error', path: '', token: '' },
    ],
  },
  {
    name: 'tool-error',
    shape: 'errors',
    document: { isError: true, text: 'File not found: /tmp/report.txt (request {{uuid}})' },
    path: '',
    play: async ({ call }) => call('tool-error', { path: '/tmp/report.txt' }),
    tools: {
      'tool-error': ({ isError, text, isRefused }, { fill }) =>
        isRefused
          ? { rpcError: { code: -32602, message: 'Invalid arguments' } }
          : { content: [{ type: 'text', text: fill(text) }], ...(isError !== undefined && { isError }) },
    },
    changes: [
      { id: 'flag-gone', drop: 'isError', token: '' },
      { id: 'flag-false', set: ['isError', false], token: '' },
      { id: 'text', replace: ['text', 'File not found', 'Permission denied'] },
      { id: 'path', replace: ['text', 'report.txt', 'other.txt'], token: 'other' },
      { id: 'becomes-rpc-error', add: ['isRefused', true] },
    ],
  },
  {
    name: 'works',
    shape: 'errors',
    document: { text: 'Stored as {{uuid}}' },
    path: '',
    play: async ({ call }) => call('works'),
    tools: {
      works: ({ text, isError, isRefused, isEmpty }, { fill }) => {
        if (isRefused) return { rpcError: { code: -32603, message: 'Internal error' } }
        return { content: isEmpty ? [] : [{ type: 'text', text: fill(text) }], ...(isError && { isError }) }
      },
    },
    changes: [
      { id: 'is-error-now', add: ['isError', true] },
      { id: 'rpc-error-now', add: ['isRefused', true] },
      { id: 'content-empty', add: ['isEmpty', true] },
      { id: 'other-text', set: ['text', 'Could not store it'], token: '' },
    ],
  },
]
