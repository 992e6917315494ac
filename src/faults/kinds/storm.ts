import { member } from '../../json/parse.ts'
import type { FaultKind } from '../fault.ts'

const LIST_NAMES = ['tools', 'prompts', 'resources']
const MAX_NOTIFICATIONS = 10_000

/** Sends many `list_changed` notifications before the response. */
export const storm: FaultKind = {
  name: 'storm',
  help: 'Send many list_changed notifications before the response',
  example: 100,
  expects: `a number of list_changed notifications, or count and list (${LIST_NAMES.join(', ')})`,
  parse: (value) => {
    const count = typeof value === 'number' ? value : member(value, 'count')
    const list = member(value, 'list') ?? 'tools'
    if (!Number.isInteger(count) || Number(count) < 1 || Number(count) > MAX_NOTIFICATIONS) return undefined
    if (typeof list !== 'string' || !LIST_NAMES.includes(list)) return undefined
    const notification = `{"jsonrpc":"2.0","method":"notifications/${list}/list_changed"}`
    return {
      description: `is answered after ${Number(count)} notifications/${list}/list_changed`,
      hidesResponse: false,
      needs: 'send',
      apply: ({ play, reply, connection }) => {
        for (let sent = 0; sent < Number(count); sent++) connection.send?.(notification)
        play(reply)
      },
    }
  },
}
