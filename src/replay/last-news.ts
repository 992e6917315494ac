import type { NotificationColumns } from './plan/recorded-notifications.ts'
import type { PlanColumns } from './plan-rows.ts'

/** What the server had told a link of in all, by method, if it told of something after the last message to it. */
export interface TrailingNotifications {
  readonly link: string
  readonly counts: ReadonlyMap<string, number>
}

/** The endings of a tape, by the indexes of the last messages that are sent. */
export function trailingNotificationsOf(rows: PlanColumns): ReadonlyMap<number, TrailingNotifications> {
  const { notifications, frame, link, links, fate, fates } = rows
  const lastTold = lastNotificationFrames(notifications)
  const endings = new Map<number, TrailingNotifications>()
  for (let index = frame.length - 1; index >= 0 && lastTold.size > 0; index--) {
    const onLink = link[index] ?? 0
    const toldAt = lastTold.get(onLink)
    if (toldAt === undefined || fates[fate[index] ?? 0]?.kind !== 'send') continue
    lastTold.delete(onLink)
    if (toldAt > (frame[index] ?? 0))
      endings.set(index, { link: links[onLink] ?? '', counts: notificationCounts(notifications, onLink) })
  }
  return endings
}

/** The resources of which a link was told that they had changed, as far as that comes in this run. */
export function resourceUpdatesOn({ notifications, links }: PlanColumns, link: string): readonly string[] {
  const onLink = links.indexOf(link)
  const uris: string[] = []
  for (const [row, uri] of notifications.uri.entries())
    if (
      notifications.link[row] === onLink &&
      notifications.isExpected[row] === 1 &&
      notifications.uris[uri] !== ''
    )
      uris.push(notifications.uris[uri] ?? '')
  return uris
}

/** In which frame each link was told something last. */
function lastNotificationFrames(told: NotificationColumns): Map<number, number> {
  const last = new Map<number, number>()
  for (const [row, frame] of told.frame.entries())
    if (isLiveNotification(told, row)) last.set(told.link[row] ?? 0, frame)
  return last
}

function notificationCounts(told: NotificationColumns, link: number): ReadonlyMap<string, number> {
  const counts = new Map<string, number>()
  for (const [row, method] of told.method.entries()) {
    const name = told.methods[method] ?? ''
    if (told.link[row] === link && isLiveNotification(told, row))
      counts.set(name, (counts.get(name) ?? 0) + 1)
  }
  return counts
}

/** Whether it comes in this run, and is no request: those are looked for with the call that they belong to. */
function isLiveNotification({ isExpected, method, methods }: NotificationColumns, row: number): boolean {
  return isExpected[row] === 1 && (methods[method[row] ?? 0] ?? '').startsWith('notifications/')
}
