// A reelay.config.ts on the newer Node: its types are taken away and its functions are used; what Node cannot take away is refused with a hint.
import { spawnSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { main } from '../recorder.mjs'
import { newerNode } from './programs.mjs'

const typed = (tool) => `import type { Socket } from 'node:net'

interface Passing { readonly tool?: string }
type Verdict = string | undefined
export type Kept = Socket

const isMeant = ({ tool }: Passing): boolean => tool === '${tool}'
const action = { setParam: { path: '$.arguments.message', value: 'of the config' } } as const

export default {
  replay: {
    transformations: [{ name: 'other words', condition: { custom: isMeant }, action }],
    validation: {
      rules: [{ name: 'strict', appliesTo: { custom: isMeant }, kind: { custom: (): Verdict => 'found by the config' } }],
    },
  },
} satisfies object
`
const ENUM = `enum Tolerance { None }
export default { replay: { tolerance: { numeric: Tolerance.None } } }
`

/** What is not as it should be when a tape with a call of this tool is replayed against this server. */
export function typescriptTroubles({ tape, tool, server, folder }) {
  const replayed = (name, text) => {
    const file = join(folder, name, 'reelay.config.ts')
    mkdirSync(join(folder, name), { recursive: true })
    writeFileSync(file, text)
    const args = [main, 'replay', tape, '--config', file, '--allow', tool, '--json', '--', ...server]
    return spawnSync(newerNode, args, { encoding: 'utf8' })
  }
  return [...troublesOfTyped(replayed('typed', typed(tool)), tool), ...troublesOfEnum(replayed('enum', ENUM))]
}

function troublesOfTyped({ status, stdout, stderr }, tool) {
  if (status !== 1) return [`a config with types ends with ${status} instead of 1: ${stderr}`]
  const step = JSON.parse(stdout).steps.find((each) => each.tool === tool)
  const isSent = JSON.stringify(step.sent).includes('of the config')
  const isFound = step.findings.some(({ message }) => message.includes('found by the config'))
  return [
    ...(isSent ? [] : ['the transform condition of a config with types is not used']),
    ...(isFound ? [] : ['the validation function of a config with types is not used']),
  ]
}

function troublesOfEnum({ status, stderr }) {
  const isClear =
    /reelay\.config\.ts, line 1, cannot be loaded: .*enum/.test(stderr) && /hint: .*an object/.test(stderr)
  return status === 2 && isClear ? [] : [`a config with an enum ends with ${status}: ${stderr}`]
}
