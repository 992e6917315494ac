import type { Redactor } from '../redact/redactor.ts'

type EventDetails = Readonly<Record<string, unknown>>

/** What an event frame says behind its place: `,"event":…` and its details. */
export function encodeEventMembers(
  event: string,
  details: EventDetails,
  redactor: Redactor | undefined,
): string {
  return `,"event":${JSON.stringify(event)}${encodeMembers(details, redactor)}`
}

/** Members behind others, with a comma before each. */
export function encodeMembers(details: EventDetails, redactor: Redactor | undefined): string {
  const text = JSON.stringify(details)
  const members = (redactor?.json(text) ?? text).slice(1, -1)
  return members === '' ? '' : `,${members}`
}
