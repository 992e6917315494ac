import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
import { effect } from '@preact/signals'
import { isRangeFilter, range, selected, shown, TONE_LIST, type Report, type Tone } from './data.ts'
import { durationText } from './text.ts'

/** Lanes of parallel calls: a call takes the first lane of its connection that is free when it starts. */
interface Lanes {
  readonly lane: Int32Array
  readonly count: number
  /** The first lane of each connection, for labels. */
  readonly labels: readonly { readonly lane: number; readonly text: string }[]
  readonly gutter: number
}

const MOST_LANES = 24
const LANE_HEIGHT = 14
const TOP = 22
/** Room for the names of connections, if there are several. */
const LABEL_WIDTH = 92

/** A canvas, because a hundred thousand elements would be slow. The list below shows the same rows to screen readers. */
export function Timeline({ current }: { readonly current: Report }) {
  const canvas = useRef<HTMLCanvasElement>(null)
  const lanes = useMemo(() => layOut(current), [current])
  const [hover, setHover] = useState('')
  const height = TOP + Math.min(lanes.count, MOST_LANES) * LANE_HEIGHT + 8
  useEffect(() => {
    const element = canvas.current
    if (element === null) return undefined
    let frame = 0
    const redraw = (): void => {
      cancelAnimationFrame(frame)
      frame = requestAnimationFrame(() => draw(element, current, lanes))
    }
    const stop = effect(() => {
      void [range.value, selected.value, shown.value]
      redraw()
    })
    const sizes = new ResizeObserver(redraw)
    sizes.observe(element)
    const scheme = matchMedia('(prefers-color-scheme: dark)')
    scheme.addEventListener('change', redraw)
    const theme = new MutationObserver(redraw)
    theme.observe(document.documentElement, { attributes: true })
    return () => {
      cancelAnimationFrame(frame)
      stop()
      sizes.disconnect()
      theme.disconnect()
      scheme.removeEventListener('change', redraw)
    }
  }, [current, lanes])
  const drag = useRef<{ x: number; range: readonly [number, number]; isMoved: boolean } | undefined>(
    undefined,
  )
  const rowAt = (event: MouseEvent): number => {
    const box = canvas.current?.getBoundingClientRect()
    if (box === undefined) return -1
    return hitRow(current, lanes, event.clientX - box.left, event.clientY - box.top, box.width)
  }
  return (
    <section class="timeline" aria-label="Timeline">
      <div class="timeline-bar">
        <span class="hint" aria-live="polite">
          {hover || 'Drag to pan, scroll to zoom, click a call to select it'}
        </span>
        <label class="check">
          <input
            type="checkbox"
            checked={isRangeFilter.value}
            onChange={(event) => {
              isRangeFilter.value = event.currentTarget.checked
            }}
          />
          List only what is visible here
        </label>
        <div class="buttons" role="group" aria-label="Zoom">
          <button type="button" onClick={() => zoom(current, 0.5)} aria-label="Zoom in">
            +
          </button>
          <button type="button" onClick={() => zoom(current, 2)} aria-label="Zoom out">
            −
          </button>
          <button type="button" onClick={() => setRange(current, current.begin, current.end)}>
            Fit
          </button>
        </div>
      </div>
      <canvas
        ref={canvas}
        tabIndex={0}
        role="img"
        aria-label={`Timeline of ${current.size} calls over ${durationText(current.end)}. Arrow keys pan, plus and minus zoom. The list shows the same calls.`}
        style={{ height: `${height}px` }}
        onWheel={(event) => {
          event.preventDefault()
          const box = event.currentTarget.getBoundingClientRect()
          const share = Math.max(0, (event.clientX - box.left - lanes.gutter) / (box.width - lanes.gutter))
          if (Math.abs(event.deltaX) > Math.abs(event.deltaY)) pan(current, event.deltaX / box.width)
          else zoom(current, event.deltaY > 0 ? 1.25 : 0.8, share)
        }}
        onPointerDown={(event) => {
          event.currentTarget.setPointerCapture(event.pointerId)
          drag.current = { x: event.clientX, range: range.value, isMoved: false }
        }}
        onPointerMove={(event) => {
          const start = drag.current
          if (start === undefined) {
            const row = rowAt(event)
            setHover(row < 0 ? '' : describe(current, row))
            return
          }
          const box = event.currentTarget.getBoundingClientRect()
          const [from, to] = start.range
          const moved = ((start.x - event.clientX) / box.width) * (to - from)
          if (Math.abs(start.x - event.clientX) > 3) start.isMoved = true
          if (start.isMoved) setRange(current, from + moved, to + moved)
        }}
        onPointerUp={(event) => {
          const start = drag.current
          drag.current = undefined
          if (start === undefined || start.isMoved) return
          const row = rowAt(event)
          if (row >= 0) selected.value = row
        }}
        onPointerLeave={() => setHover('')}
        onKeyDown={(event) => {
          const action = KEYS[event.key]
          if (action === undefined) return
          event.preventDefault()
          action(current)
        }}
      />
    </section>
  )
}

const KEYS: Readonly<Record<string, (current: Report) => void>> = {
  ArrowLeft: (current) => pan(current, -0.1),
  ArrowRight: (current) => pan(current, 0.1),
  '+': (current) => zoom(current, 0.5),
  '=': (current) => zoom(current, 0.5),
  '-': (current) => zoom(current, 2),
  Home: (current) => setRange(current, current.begin, current.end),
}

function describe(current: Report, row: number): string {
  const { rows } = current.data
  const duration = rows.duration[row] ?? -1
  const time = duration < 0 ? 'no response' : durationText(duration)
  return `#${rows.number[row]} ${current.text('method', row)} ${current.text('target', row)} · +${durationText(rows.at[row] ?? 0)} · ${time}`
}

function setRange(current: Report, from: number, to: number): void {
  const all = current.end - current.begin
  const length = Math.min(all, Math.max(Math.min(all, 0.05), to - from))
  const start = Math.min(Math.max(current.begin, from), current.end - length)
  range.value = [start, start + length]
}

function zoom(current: Report, factor: number, share = 0.5): void {
  const [from, to] = range.value
  const center = from + (to - from) * share
  setRange(current, center - (center - from) * factor, center + (to - center) * factor)
}

function pan(current: Report, share: number): void {
  const [from, to] = range.value
  setRange(current, from + (to - from) * share, to + (to - from) * share)
}

/** Brings a row into view. */
export function revealOnTimeline(current: Report, row: number): void {
  const at = current.data.rows.at[row] ?? -1
  const [from, to] = range.value
  if (at < 0 || (at >= from && at <= to)) return
  setRange(current, at - (to - from) / 2, at + (to - from) / 2)
}

function layOut(current: Report): Lanes {
  const { rows } = current.data
  const order = Array.from({ length: current.size }, (_, row) => row)
    .filter((row) => (rows.at[row] ?? -1) >= 0)
    .toSorted((a, b) => (rows.at[a] ?? 0) - (rows.at[b] ?? 0))
  const lane = new Int32Array(current.size).fill(-1)
  const links = new Map<number, number[]>()
  const own = new Int32Array(current.size)
  for (const row of order) {
    const link = rows.link[row] ?? 0
    let ends = links.get(link)
    if (ends === undefined) links.set(link, (ends = []))
    const at = rows.at[row] ?? 0
    let free = ends.findIndex((end) => end <= at)
    if (free < 0) free = Math.min(ends.length, MOST_LANES - 1)
    ends[free] = at + Math.max(0.001, rows.duration[row] ?? 0)
    own[row] = free
  }
  const first = new Map<number, number>()
  const labels: { lane: number; text: string }[] = []
  let count = 0
  for (const [link, ends] of links) {
    first.set(link, count)
    labels.push({ lane: count, text: current.data.texts[link] ?? '' })
    count += ends.length
  }
  for (const row of order)
    lane[row] = Math.min(MOST_LANES - 1, (first.get(rows.link[row] ?? 0) ?? 0) + (own[row] ?? 0))
  return {
    lane,
    count: Math.max(1, count),
    labels: links.size > 1 ? labels : [],
    gutter: links.size > 1 ? LABEL_WIDTH : 0,
  }
}

function colours(element: Element): Readonly<Record<Tone | 'text' | 'grid' | 'accent' | 'mark', string>> {
  const style = getComputedStyle(element)
  const read = (name: string): string => style.getPropertyValue(name).trim()
  return {
    good: read('--good-bar'),
    bad: read('--bad'),
    warn: read('--warn-bar'),
    plain: read('--plain-bar'),
    text: read('--muted'),
    grid: read('--line'),
    accent: read('--accent'),
    mark: read('--mark'),
  }
}

function draw(element: HTMLCanvasElement, current: Report, lanes: Lanes): void {
  const { clientWidth: width, clientHeight: height } = element
  const scale = devicePixelRatio || 1
  if (element.width !== Math.round(width * scale)) element.width = Math.round(width * scale)
  if (element.height !== Math.round(height * scale)) element.height = Math.round(height * scale)
  const pen = element.getContext('2d')
  if (pen === null || width === 0) return
  const colour = colours(element)
  const [from, to] = range.value
  const { gutter } = lanes
  const x = (time: number): number => gutter + ((time - from) / (to - from)) * (width - gutter)
  pen.setTransform(scale, 0, 0, scale, 0, 0)
  pen.clearRect(0, 0, width, height)
  pen.font = '11px system-ui, sans-serif'
  drawGrid(pen, { from, to, width, height, x, colour })
  const { marks } = current.data
  // At most one bar per pixel, lane and tone, so that a zoomed-out timeline stays fast. What is bad is drawn last.
  const paths = TONE_LIST.map(() => new Path2D())
  const last = new Float64Array(TONE_LIST.length * MOST_LANES).fill(-1)
  const { at: starts, ends, tones } = current
  const perMs = (width - gutter) / (to - from)
  for (const row of shown.value.rows) {
    const at = starts[row] ?? -1
    const end = ends[row] ?? 0
    if (at < 0 || at > to || end < from) continue
    const lane = lanes.lane[row] ?? 0
    const tone = tones[row] ?? 0
    const left = Math.max(gutter, gutter + (at - from) * perMs)
    const right = Math.min(width + 1, Math.max(gutter + (end - from) * perMs, left + 2))
    const slot = tone * MOST_LANES + lane
    if (right <= (last[slot] ?? -1) + 0.5) continue
    last[slot] = right
    paths[tone]?.rect(left, TOP + lane * LANE_HEIGHT + 1, right - left, LANE_HEIGHT - 3)
  }
  for (const [at, tone] of TONE_LIST.entries()) {
    pen.fillStyle = colour[tone]
    const path = paths[at]
    if (path !== undefined) pen.fill(path)
  }
  pen.fillStyle = colour.mark
  let lastMark = -1
  for (let mark = 0; mark < marks.row.length; mark++) {
    const at = marks.at[mark] ?? 0
    const place = x(at)
    if (at < from || at > to || place - lastMark < 1) continue
    lastMark = place
    const y = TOP + (lanes.lane[marks.row[mark] ?? 0] ?? 0) * LANE_HEIGHT
    if (marks.kind[mark] === 1) {
      pen.beginPath()
      pen.moveTo(place, y + 1)
      pen.lineTo(place + 5, y + 6)
      pen.lineTo(place, y + 11)
      pen.lineTo(place - 5, y + 6)
      pen.fill()
    } else pen.fillRect(place - 0.5, y + 3, 1.5, LANE_HEIGHT - 7)
  }
  pen.fillStyle = colour.text
  for (const { lane, text } of lanes.labels)
    if (lane < MOST_LANES)
      pen.fillText(text.length > 14 ? `${text.slice(0, 13)}…` : text, 2, TOP + lane * LANE_HEIGHT + 10)
  drawSelected(pen, current, lanes, { x, colour, height })
}

interface DrawContext {
  readonly x: (time: number) => number
  readonly colour: ReturnType<typeof colours>
  readonly height: number
}

function drawSelected(
  pen: CanvasRenderingContext2D,
  current: Report,
  lanes: Lanes,
  context: DrawContext,
): void {
  const row = selected.value
  const { rows } = current.data
  const at = rows.at[row] ?? -1
  if (row < 0 || at < 0) return
  const left = context.x(at)
  const right = Math.max(context.x(at + Math.max(0, rows.duration[row] ?? 0)), left + 2)
  pen.strokeStyle = context.colour.accent
  pen.lineWidth = 2
  pen.strokeRect(left - 2, TOP + (lanes.lane[row] ?? 0) * LANE_HEIGHT - 1, right - left + 4, LANE_HEIGHT + 1)
  pen.globalAlpha = 0.35
  pen.fillStyle = context.colour.accent
  pen.fillRect(left, 0, 1, context.height)
  pen.globalAlpha = 1
}

interface GridContext extends DrawContext {
  readonly from: number
  readonly to: number
  readonly width: number
}

function drawGrid(pen: CanvasRenderingContext2D, { from, to, width, height, x, colour }: GridContext): void {
  const step = niceStep((to - from) / Math.max(2, width / 110))
  pen.textBaseline = 'alphabetic'
  for (let time = Math.ceil(from / step) * step; time <= to; time += step) {
    const place = Math.round(x(time)) + 0.5
    pen.fillStyle = colour.grid
    pen.fillRect(place, TOP - 5, 1, height)
    pen.fillStyle = colour.text
    pen.fillText(durationText(time), place + 3, 12)
  }
}

function niceStep(least: number): number {
  const power = 10 ** Math.floor(Math.log10(least))
  return power * ([1, 2, 5, 10].find((factor) => factor * power >= least) ?? 10)
}

function hitRow(current: Report, lanes: Lanes, left: number, top: number, width: number): number {
  const lane = Math.floor((top - TOP) / LANE_HEIGHT)
  const [from, to] = range.value
  const time = from + ((left - lanes.gutter) / (width - lanes.gutter)) * (to - from)
  const slack = ((to - from) / width) * 3
  const { rows } = current.data
  let best = -1
  let distance = Infinity
  for (const row of shown.value.rows) {
    if (lanes.lane[row] !== lane) continue
    const at = rows.at[row] ?? -1
    const end = at + Math.max(0, rows.duration[row] ?? 0)
    const away = time < at ? at - time : time > end ? time - end : 0
    if (away <= slack && away < distance) [best, distance] = [row, away]
  }
  return best
}
