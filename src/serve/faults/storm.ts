import { member } from '../../protocol/message.ts'
import type { FaultKind } from './fault.ts'

const LIST_NAMES = ['tools', 'prompts', 'resources']
const MAX_NOTIFICATIONS = 10_000

/** Notice after notice that a list has changed, before the answer. */
export const storm: FaultKind = {
  name: 'storm',
  expects: `how many list_changed notifications, or count and list (${LIST_NAMES.join(', ')})`,
  parse: (value) => {
    const count = typeof value === 'number' ? value : member(value, 'count')
    const list = member(value, 'list') ?? 'tools'
    if (!Number.isInteger(count) || Number(count) < 1 || Number(count) > MAX_NOTIFICATIONS) return undefined
    if (typeof list !== 'string' || !LIST_NAMES.includes(list)) return undefined
    const notice = `{"jsonrpc":"2.0","method":"notifications/${list}/list_changed"}`
    return {
      description: `is answered after ${Number(count)} notices that the list of ${list} changed`,
      hidesAnswer: false,
      apply: ({ outlet, play, reply }) => {
        for (let sent = 0; sent < Number(count); sent++) outlet.send(notice)
        play(reply)
      },
    }
  },
}
