import { elementScroll, observeElementOffset, observeElementRect, Virtualizer } from '@tanstack/virtual-core'
import { useEffect, useReducer, useRef, useState } from 'preact/hooks'
import { selected, shown, type Report } from './data.ts'
import { durationText, visible } from './text.ts'

const ROW_HEIGHT = 30

/** Only the visible rows are elements. */
export function RowList({ current }: { readonly current: Report }) {
  const scroller = useRef<HTMLDivElement>(null)
  const [, redraw] = useReducer((count: number) => count + 1, 0)
  const { rows } = shown.value
  const options = {
    count: rows.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => ROW_HEIGHT,
    overscan: 8,
    scrollToFn: elementScroll,
    observeElementRect,
    observeElementOffset,
    onChange: () => redraw(0),
  }
  const [virtual] = useState(() => new Virtualizer<HTMLDivElement, HTMLDivElement>(options))
  virtual.setOptions({ ...virtual.options, ...options })
  // oxlint-disable eslint/no-underscore-dangle -- these names are what adapters of the library call
  useEffect(() => virtual._didMount(), [virtual])
  useEffect(() => virtual._willUpdate())
  // oxlint-enable eslint/no-underscore-dangle
  const place = rows.indexOf(selected.value)
  useEffect(() => {
    if (place >= 0) virtual.scrollToIndex(place, { align: 'auto' })
  }, [virtual, place, rows])
  const move = (by: number): void => {
    const next = Math.min(rows.length - 1, Math.max(0, (place < 0 ? 0 : place) + by))
    const row = rows[next]
    if (row !== undefined) selected.value = row
  }
  const page = Math.max(1, Math.floor((scroller.current?.clientHeight ?? 300) / ROW_HEIGHT) - 1)
  const keys: Readonly<Record<string, number>> = {
    ArrowDown: 1,
    ArrowUp: -1,
    j: 1,
    k: -1,
    PageDown: page,
    PageUp: -page,
    Home: -rows.length,
    End: rows.length,
  }
  return (
    <div
      class="list"
      ref={scroller}
      role="listbox"
      aria-label={`${rows.length} of ${current.size} rows`}
      aria-activedescendant={place < 0 ? undefined : `row-${selected.value}`}
      tabIndex={0}
      onKeyDown={(event) => {
        const by = keys[event.key]
        if (by === undefined || event.ctrlKey || event.metaKey || event.altKey) return
        event.preventDefault()
        move(by)
      }}
    >
      <div
        role="presentation"
        class={current.hasTimes ? 'rows' : 'rows untimed'}
        style={{ height: `${virtual.getTotalSize()}px`, '--number': `${numberWidth(current)}ch` }}
      >
        {virtual.getVirtualItems().map(({ index, start }) => (
          <Row
            key={rows[index]}
            current={current}
            row={rows[index] ?? 0}
            top={start}
            place={index}
            of={rows.length}
          />
        ))}
      </div>
      {rows.length === 0 && <p class="empty">Nothing matches. Change or clear the filter.</p>}
    </div>
  )
}

/** The width of the largest number, so that small reports have room for names. */
function numberWidth({ data, size }: Report): number {
  const last = data.rows.number[size - 1] ?? 0
  return last === 0 ? 0 : String(last).length + 1.5
}

interface RowProps {
  readonly current: Report
  readonly row: number
  readonly top: number
  readonly place: number
  readonly of: number
}

function Row({ current, row, top, place, of }: RowProps) {
  const { rows } = current.data
  const duration = rows.duration[row] ?? -1
  const at = rows.at[row] ?? -1
  const number = rows.number[row] ?? 0
  const target = visible(current.text('target', row))
  const outcome = visible(current.text('outcome', row)) || current.text('status', row)
  return (
    <div
      id={`row-${row}`}
      role="option"
      aria-selected={selected.value === row}
      aria-posinset={place + 1}
      aria-setsize={of}
      class={`row tone-${current.tone(row)}`}
      style={{ transform: `translateY(${top}px)` }}
      onClick={() => {
        selected.value = row
      }}
    >
      <span class="dot" aria-hidden="true" />
      <span class="number">{number > 0 ? `#${number}` : ''}</span>
      <span class="name" title={target}>
        <span class={target === '' ? 'target' : 'method'}>{visible(current.text('method', row))}</span>
        {target !== '' && <span class="target">{target}</span>}
      </span>
      <span class="outcome" title={outcome}>
        {outcome}
      </span>
      {current.hasTimes && (
        <>
          <span class="time">{duration >= 0 ? durationText(duration) : at < 0 ? '' : '–'}</span>
          <span class="at">{at < 0 ? '' : `+${durationText(at)}`}</span>
        </>
      )}
    </div>
  )
}
