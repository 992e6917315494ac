import { formatPath } from '../json/path.ts'
import type { LocationStep, TapeLocation, BindingProducer } from '../bindings/binding.ts'

/** A place as a bindings file writes it: `#12 result.content[0].text > json issue.id`. */
export function formatTapeLocation({ frame, item, path, inside }: Omit<TapeLocation, 'turn'>): string {
  const at = item === undefined ? `#${frame}` : `#${frame}/${item}`
  return [`${at} ${formatPath(path)}`, ...inside.map(formatLocationStep)].join(' > ')
}

/** Who made a value, as a bindings file writes it. */
export function formatProducer(producer: BindingProducer): string {
  if (producer.kind === 'message') return formatTapeLocation(producer)
  const { unit, offset } = producer
  const amount = unit === 'day' ? offset : Math.round(offset / 1000)
  return `now ${amount < 0 ? '-' : '+'} ${Math.abs(amount)} ${unit === 'day' ? 'days' : 'seconds'}`
}

function formatLocationStep(lens: LocationStep): string {
  switch (lens.kind) {
    case 'json':
      return `json ${formatPath(lens.path)}`
    case 'base64':
      return 'base64'
    case 'token':
      return `text ${JSON.stringify(`${lens.token.before.trimStart()}{}${lens.token.after}`)}`
    case 'span':
      return `characters ${lens.start}-${lens.end}`
    case 'key':
      return `key ${lens.index}`
  }
}
