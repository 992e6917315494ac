import { type FaultKind, editResult, variantFault } from '../fault.ts'

/** Answers with a valid message whose content is wrong. */
export const result: FaultKind = variantFault(
  'result',
  'Change the content of the result',
  {
    'is-error': {
      description: 'is answered as a failed tool',
      change: (text) =>
        editResult(text, (given) => ({
          ...Object.fromEntries(Object.entries(given).filter(([name]) => name !== 'structuredContent')),
          content: [{ type: 'text', text: 'injected failure' }],
          isError: true,
        })),
    },
    'not-error': {
      description: 'is answered as a tool that succeeded, whatever it said',
      change: (text) => editResult(text, (given) => ({ ...given, isError: false })),
    },
    'wrong-structure': {
      description: 'is answered with structured content that does not fit its schema',
      change: (text) => editResult(text, (given) => ({ ...given, structuredContent: { injected: [null] } })),
    },
    empty: {
      description: 'is answered with an empty result',
      change: (text) => editResult(text, () => ({})),
    },
    'unknown-content': {
      description: 'is answered with content of an unknown type',
      change: (text) =>
        editResult(text, (given) => ({ ...given, content: [{ type: 'hologram', data: 'injected' }] })),
    },
    huge: {
      description: 'is answered with 10 MB of text',
      change: (text) =>
        editResult(text, (given) => ({
          ...given,
          content: [{ type: 'text', text: 'x'.repeat(10_000_000) }],
        })),
    },
  },
  /^tools\/call$/,
)
