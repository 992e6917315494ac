import { useState } from 'preact/hooks'
import { visible } from './text.ts'

const PAGE = 100
const LONG_TEXT = 400

interface NodeProps {
  readonly name?: string | undefined
  readonly value: unknown
  readonly isOpen?: boolean
}

/** A value whose children are made when somebody opens it, a hundred at a time. */
export function JsonTree({ value }: { readonly value: unknown }) {
  return (
    <div class="tree">
      <JsonNode value={value} isOpen />
    </div>
  )
}

function JsonNode({ name, value, isOpen: isOpenFirst = false }: NodeProps) {
  const inner = typeof value === 'string' ? parseNested(value) : undefined
  const branch = inner ?? value
  if (typeof branch !== 'object' || branch === null) return <Leaf name={name} value={value} />
  return <Branch name={name} value={branch} isText={inner !== undefined} isOpen={isOpenFirst} />
}

interface BranchProps {
  readonly name?: string | undefined
  readonly value: object
  /** The value is JSON inside of a text. */
  readonly isText: boolean
  readonly isOpen: boolean
}

function Branch({ name, value, isText, isOpen: isOpenFirst }: BranchProps) {
  const entries = Object.entries(value)
  const [isOpen, setOpen] = useState(isOpenFirst || entries.length <= 3)
  const [limit, setLimit] = useState(PAGE)
  const isList = Array.isArray(value)
  const size = `${entries.length} ${isList ? 'item' : 'member'}${entries.length === 1 ? '' : 's'}`
  return (
    <div class="node">
      <button type="button" class="branch" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
        <span class="arrow" aria-hidden="true">
          {isOpen ? '▾' : '▸'}
        </span>
        {name !== undefined && <span class="key">{visible(name)}</span>}
        <span class="brackets">{isList ? '[ ]' : '{ }'}</span>
        <span class="size">{isText ? `${size}, JSON in a text` : size}</span>
      </button>
      {isOpen && (
        <div class="children">
          {entries.slice(0, limit).map(([key, child]) => (
            <JsonNode key={key} name={key} value={child} />
          ))}
          {entries.length > limit && (
            <button type="button" class="more" onClick={() => setLimit(limit + PAGE * 5)}>
              Show more ({entries.length - limit} left)
            </button>
          )}
        </div>
      )}
    </div>
  )
}

function Leaf({ name, value }: NodeProps) {
  const text = typeof value === 'string' ? visible(value) : JSON.stringify(value)
  const [isWhole, setWhole] = useState(false)
  const isLong = text.length > LONG_TEXT && !isWhole
  return (
    <div class="leaf">
      {name !== undefined && <span class="key">{visible(name)}</span>}
      <span class={`value value-${value === null ? 'null' : typeof value}`}>
        {isLong ? `${text.slice(0, LONG_TEXT)}…` : text}
      </span>
      {isLong && (
        <button type="button" class="more" onClick={() => setWhole(true)}>
          Show all {text.length} characters
        </button>
      )}
    </div>
  )
}

/** JSON inside of a text is shown as JSON. */
export function parseNested(text: string): object | undefined {
  if (!/^\s*[[{]/.test(text) || text.length > 5_000_000) return undefined
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null ? value : undefined
  } catch {
    return undefined
  }
}
