import type { ServedHttp } from '../serve/http/serve-http.ts'
import type { ServeOptions } from '../serve/serve-options.ts'
import { tapeEra } from '../serve/tape-era.ts'
import type { Turn } from '../tape/turn.ts'
import type { Message } from '../wire/message.ts'
import { visible } from '../wire/visible.ts'
import { paint } from './paint.ts'

/** Says what is served, and what is wrong with it. */
export function announce({ tape, name }: ServeOptions, servers: readonly string[]): void {
  const { turns, ended, problems } = tape
  const exchanges = turns.filter(
    ({ trigger }) => trigger?.message.kind === 'request' && servers.includes(trigger.server),
  )
  const { era, version } = tapeEra(exchanges)
  const spoken =
    era === undefined ? 'era unknown' : [era, version].filter((word) => word !== undefined).join(' ')
  say(
    `reelay serve: ${name}, ${exchanges.length} ${exchanges.length === 1 ? 'exchange' : 'exchanges'}, ${spoken}`,
  )
  for (const { line, why } of problems.slice(0, WARNINGS)) warn(`line ${line} of the tape: ${why}`)
  if (problems.length > WARNINGS) warn(`${problems.length - WARNINGS} more lines of the tape cannot be read`)
  if (!ended) warn('the tape has no end: it was cut off, or is still being recorded')
  if (isProbe(exchanges))
    warn(
      'the tape holds nothing but a probe (server/discover): the session that followed has a tape of its own',
    )
}

const WARNINGS = 5

/** SDK clients that negotiate start the server twice: once to ask what it speaks, once for the session. */
function isProbe(exchanges: readonly Turn[]): boolean {
  return exchanges.length > 0 && exchanges.every(({ trigger }) => isDiscover(trigger?.message))
}

function isDiscover(message: Message | undefined): boolean {
  return message?.kind === 'request' && message.method === 'server/discover'
}

/** Says where, in lines that programs may read too; the tape is named where there are several, and so is the server. */
export function sayWhere(served: readonly (ServedHttp & { readonly name: string | undefined })[]): void {
  if (served.some(({ isOpen }) => isOpen))
    warn('other machines can reach this server, and whatever the tape holds')
  for (const { endpoints, name } of served) {
    const servers = new Set(endpoints.map(({ server }) => server))
    for (const { server, url } of endpoints) {
      const who = [...(name === undefined ? [] : [name]), ...(servers.size > 1 ? [server] : [])]
      say(visible([...who, ...(who.length > 0 ? ['is'] : []), 'listening on', url].join(' ')))
    }
  }
}

function warn(text: string): void {
  say(`reelay serve: ${paint('yellow', 'warning:')} ${text}`)
}

// stdout is the protocol's alone.
export function say(text: string): void {
  process.stderr.write(`${text}\n`)
}
