import { diffArrays, diffWordsWithSpace } from 'diff'
import { useMemo, useState } from 'preact/hooks'
import { parseNested } from './json-tree.tsx'
import { visible } from './text.ts'

interface CompareProps {
  readonly sides: readonly [string, string]
  readonly before: string | undefined
  readonly after: string | undefined
}

interface LinePair {
  readonly kind: 'same' | 'changed' | 'gone' | 'new'
  readonly left?: string
  readonly right?: string
}

const CONTEXT = 3

/** Two messages next to each other, line by line. Equal lines are folded. */
export function Compare({ sides, before, after }: CompareProps) {
  const pairs = useMemo(() => alignLines(linesOf(before), linesOf(after)), [before, after])
  const [isWhole, setWhole] = useState(false)
  const parts = isWhole ? [{ pairs, folded: 0 }] : foldEqual(pairs)
  const changes = pairs.filter(({ kind }) => kind !== 'same').length
  return (
    <div class="compare">
      <div class="compare-bar">
        <span>
          {changes === 0
            ? 'No line differs'
            : `${changes} ${changes === 1 ? 'line differs' : 'lines differ'}`}
        </span>
        <button type="button" onClick={() => setWhole(!isWhole)}>
          {isWhole ? 'Fold equal lines' : 'Show all lines'}
        </button>
      </div>
      <table>
        <thead>
          <tr>
            <th scope="col">{sides[0]}</th>
            <th scope="col">{sides[1]}</th>
          </tr>
        </thead>
        <tbody>
          {parts.map(({ pairs: part, folded }, at) => (
            <>
              {folded > 0 && (
                <tr key={`fold-${at}`} class="fold">
                  <td colSpan={2}>{folded} equal lines</td>
                </tr>
              )}
              {part.slice(0, MOST_LINES).map((pair, line) => (
                <PairRow key={`${at}-${line}`} pair={pair} />
              ))}
            </>
          ))}
        </tbody>
      </table>
    </div>
  )
}

const MOST_LINES = 5000

function PairRow({ pair }: { readonly pair: LinePair }) {
  const { kind, left, right } = pair
  if (kind !== 'changed' || left === undefined || right === undefined)
    return (
      <tr class={kind}>
        <td class="left">{left === undefined ? '' : visible(left)}</td>
        <td class="right">{right === undefined ? '' : visible(right)}</td>
      </tr>
    )
  const words = diffWordsWithSpace(visible(left), visible(right), { timeout: 100 }) ?? []
  return (
    <tr class="changed">
      <td class="left">
        {words.map(({ value, added, removed }, at) =>
          added ? null : removed ? <del key={at}>{value}</del> : <span key={at}>{value}</span>,
        )}
      </td>
      <td class="right">
        {words.map(({ value, added, removed }, at) =>
          removed ? null : added ? <ins key={at}>{value}</ins> : <span key={at}>{value}</span>,
        )}
      </td>
    </tr>
  )
}

/** A message as indented lines, with the JSON inside of texts opened. */
function linesOf(text: string | undefined): readonly string[] {
  if (text === undefined) return []
  const value = parseNested(text)
  if (value === undefined) return text.split('\n')
  // Each run has its own ids, which say nothing.
  const shown = 'jsonrpc' in value && 'id' in value ? { ...value, id: undefined } : value
  return JSON.stringify(opened(shown, 0), null, 2).split('\n')
}

function opened(value: unknown, depth: number): unknown {
  if (depth > 100) return value
  if (typeof value === 'string') {
    const nested = parseNested(value)
    if (nested !== undefined) return opened(nested, depth + 1)
    return value.includes('\n') ? value.split('\n') : value
  }
  if (Array.isArray(value)) return value.map((item) => opened(item, depth + 1))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, child]) => [key, opened(child, depth + 1)]))
}

function alignLines(left: readonly string[], right: readonly string[]): readonly LinePair[] {
  const changes = diffArrays([...left], [...right], { timeout: 1000 })
  if (changes === undefined)
    return Array.from({ length: Math.max(left.length, right.length) }, (_, at) => pairOf(left[at], right[at]))
  const pairs: LinePair[] = []
  for (let at = 0; at < changes.length; at++) {
    const { value, added, removed } = changes[at] ?? { value: [] }
    const next = changes[at + 1]
    if (removed && next?.added) {
      for (let line = 0; line < Math.max(value.length, next.value.length); line++)
        pairs.push(pairOf(value[line], next.value[line]))
      at++
    } else
      for (const line of value)
        pairs.push(added ? pairOf(undefined, line) : removed ? pairOf(line, undefined) : pairOf(line, line))
  }
  return pairs
}

function pairOf(left: string | undefined, right: string | undefined): LinePair {
  if (left === undefined) return { kind: 'new', right: right ?? '' }
  if (right === undefined) return { kind: 'gone', left }
  return { kind: left === right ? 'same' : 'changed', left, right }
}

/** Splits pairs into parts around changes, each with the number of equal lines before it. */
function foldEqual(pairs: readonly LinePair[]): readonly { pairs: readonly LinePair[]; folded: number }[] {
  const isNear = new Uint8Array(pairs.length)
  for (const [at, { kind }] of pairs.entries())
    if (kind !== 'same') isNear.fill(1, Math.max(0, at - CONTEXT), at + CONTEXT + 1)
  const parts: { pairs: LinePair[]; folded: number }[] = []
  let folded = 0
  let open: { pairs: LinePair[]; folded: number } | undefined
  for (const [at, pair] of pairs.entries()) {
    if (isNear[at] === 0) {
      folded++
      open = undefined
      continue
    }
    if (open === undefined) {
      open = { pairs: [], folded }
      parts.push(open)
      folded = 0
    }
    open.pairs.push(pair)
  }
  return folded > 0 ? [...parts, { pairs: [], folded }] : parts
}
