import { type FaultRule, type FaultSetting, parseFaultRules } from './fault-rules.ts'

/** A named set of faults: `reelay serve <tape> --faults slow`. */
interface FaultPreset {
  readonly name: string
  readonly help: string
  readonly faults: (count: number) => readonly FaultSetting[]
  /** The number of a preset such as `recover-after:3`. */
  readonly count?: number
}

// Faults in the handshake teach little, because no client gets past them. These apply to calls of tools.
const CALLS = { method: 'tools/call' }
const OVERLOADED = { code: -32000, message: 'overloaded' }

export const FAULT_PRESETS: readonly FaultPreset[] = [
  { name: 'slow', help: 'every call takes two seconds longer', faults: () => [{ ...CALLS, delay: '2s' }] },
  {
    name: 'flaky',
    help: 'one call in five fails: with an error, a cut message, no response, or a broken stream',
    faults: () => [
      {
        ...CALLS,
        probability: 0.2,
        oneOf: [{ error: OVERLOADED }, { malformed: 'truncated' }, { timeout: true }, { drop: true }],
      },
    ],
  },
  { name: 'wedged', help: 'no call is answered', faults: () => [{ ...CALLS, timeout: true }] },
  {
    name: 'reply-after-cancel',
    help: 'each call is answered only after the client has cancelled it',
    faults: () => [{ ...CALLS, late: true }],
  },
  {
    name: 'recover-after',
    help: 'the first calls fail (recover-after:3 for three), all others work',
    count: 3,
    faults: (count) => [{ ...CALLS, first: count, error: OVERLOADED }],
  },
  {
    name: 'token-expiry',
    help: 'after the first calls (token-expiry:3 for three) the token has expired, over HTTP',
    count: 3,
    faults: (count) => [{ ...CALLS, after: count, http: 'token-expired' }],
  },
  {
    name: 'bad-network',
    help: 'every other call is answered slowly, in small pieces, or only in part',
    faults: () => [
      {
        ...CALLS,
        probability: 0.5,
        oneOf: [
          { delay: '50ms-500ms' },
          ...['sliced', 'slow', 'cut-character', 'cut-token', 'reset', 'half-close'].map((wire) => ({
            wire,
          })),
        ],
      },
    ],
  },
  {
    name: 'evil',
    help: 'every other call gets a response that breaks the protocol or lies about its result',
    faults: () => [
      {
        ...CALLS,
        probability: 0.5,
        oneOf: [
          ...['wrong-id', 'id-as-string', 'result-and-error', 'error-without-code', 'no-result'].map(
            (malformed) => ({ malformed }),
          ),
          ...['is-error', 'wrong-structure', 'empty', 'unknown-content'].map((result) => ({ result })),
          { duplicate: true },
          { storm: 50 },
          { flood: 50 },
          { refuse: 'unknown-tool' },
        ],
      },
    ],
  },
]

/** The rules of a preset, such as `slow` or `recover-after:3`; `undefined` if there is none of this name. */
export function presetFaults(text: string): readonly FaultRule[] | undefined {
  const [name, count] = text.split(':')
  const preset = FAULT_PRESETS.find((each) => each.name === name)
  if (preset === undefined) return undefined
  if (count !== undefined && (preset.count === undefined || !/^[1-9]\d{0,8}$/.test(count))) return undefined
  return parseFaultRules({ faults: preset.faults(Number(count ?? preset.count)) })
}
