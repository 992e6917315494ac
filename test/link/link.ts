import { onTestFinished } from 'vitest'
import type { ClientLink, OpenLink } from '../../src/link/client-link.ts'
import { until } from '../support/recorder.ts'

/** A link, and what came of it. */
export interface Heard {
  readonly link: ClientLink
  readonly texts: string[]
  readonly lost: string[]
  readonly ends: string[]
  /** Resolves when so much was heard or lost. */
  readonly count: (wanted: number) => Promise<void>
}

export async function opened(open: OpenLink): Promise<Heard> {
  const texts: string[] = []
  const lost: string[] = []
  const ends: string[] = []
  const link = await open({
    onText: (text) => void texts.push(text),
    onLost: (key, why) => void lost.push(`${key} ${why}`),
    onEnd: (why) => void ends.push(why),
  })
  onTestFinished(() => link.close())
  return {
    link,
    texts,
    lost,
    ends,
    count: (wanted) => until(() => texts.length + lost.length >= wanted),
  }
}

export function request(id: number, method = 'ping', params: object = {}): string {
  return JSON.stringify({ jsonrpc: '2.0', id, method, params })
}

export function answer(id: number, result: object = {}): string {
  return JSON.stringify({ jsonrpc: '2.0', id, result })
}
