import type { ToldRows } from './hearing.ts'
import type { Rows } from './plan-rows.ts'

/** What the server had told a link of in all, by method, if it told of something after the last message to it. */
export interface Ending {
  readonly link: string
  readonly heard: ReadonlyMap<string, number>
}

/** The endings of a tape, by the indexes of the last messages that are sent. */
export function endingsOf(rows: Rows): ReadonlyMap<number, Ending> {
  const { told, frame, link, links, fate, fates } = rows
  const lastTold = lastNews(told)
  const endings = new Map<number, Ending>()
  for (let index = frame.length - 1; index >= 0 && lastTold.size > 0; index--) {
    const onLink = link[index] ?? 0
    const toldAt = lastTold.get(onLink)
    if (toldAt === undefined || fates[fate[index] ?? 0]?.kind !== 'send') continue
    lastTold.delete(onLink)
    if (toldAt > (frame[index] ?? 0))
      endings.set(index, { link: links[onLink] ?? '', heard: newsOf(told, onLink) })
  }
  return endings
}

/** The resources of which a link was told that they had changed, as far as that comes in this run. */
export function updatesOn({ told, links }: Rows, link: string): readonly string[] {
  const onLink = links.indexOf(link)
  const uris: string[] = []
  for (const [row, uri] of told.uri.entries())
    if (told.link[row] === onLink && told.comes[row] === 1 && told.uris[uri] !== '')
      uris.push(told.uris[uri] ?? '')
  return uris
}

/** In which frame each link was told something last. */
function lastNews(told: ToldRows): Map<number, number> {
  const last = new Map<number, number>()
  for (const [row, frame] of told.frame.entries()) if (isNews(told, row)) last.set(told.link[row] ?? 0, frame)
  return last
}

function newsOf(told: ToldRows, link: number): ReadonlyMap<string, number> {
  const counts = new Map<string, number>()
  for (const [row, method] of told.method.entries()) {
    const name = told.methods[method] ?? ''
    if (told.link[row] === link && isNews(told, row)) counts.set(name, (counts.get(name) ?? 0) + 1)
  }
  return counts
}

/** Whether it comes in this run, and is no request: those are looked for with the call that they belong to. */
function isNews({ comes, method, methods }: ToldRows, row: number): boolean {
  return comes[row] === 1 && (methods[method[row] ?? 0] ?? '').startsWith('notifications/')
}
