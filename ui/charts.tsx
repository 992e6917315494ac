import { useEffect, useRef } from 'preact/hooks'
import uPlot from 'uplot'
// oxlint-disable-next-line import/no-unassigned-import -- Vite takes the style from here
import 'uplot/dist/uPlot.min.css'
import type { PageChart, PageTable } from '../src/report/page/page-data.ts'
import { durationText, visible } from './text.ts'

/** Charts of rates, times and counts, two in a row. All of them that show seconds have one cursor. */
export function Charts({ charts }: { readonly charts: readonly PageChart[] }) {
  return (
    <section class="charts" aria-label="Charts">
      {charts.map((chart) => (
        <Chart key={chart.title} chart={chart} />
      ))}
    </section>
  )
}

const HEIGHT = 168

function Chart({ chart }: { readonly chart: PageChart }) {
  const place = useRef<HTMLDivElement>(null)
  useEffect(() => {
    const element = place.current
    if (element === null) return undefined
    const size = (): { width: number; height: number } => ({
      width: Math.max(200, element.clientWidth),
      height: HEIGHT,
    })
    const draw = (): uPlot => new uPlot({ ...optionsOf(chart, element), ...size() }, dataOf(chart), element)
    let plot = draw()
    const redraw = (): void => {
      plot.destroy()
      plot = draw()
    }
    const resized = new ResizeObserver(() => plot.setSize(size()))
    resized.observe(element)
    // The colours are read when the chart is made.
    const restyled = new MutationObserver(redraw)
    restyled.observe(document.documentElement, { attributes: true })
    const scheme = matchMedia('(prefers-color-scheme: dark)')
    scheme.addEventListener('change', redraw)
    return () => {
      scheme.removeEventListener('change', redraw)
      restyled.disconnect()
      resized.disconnect()
      plot.destroy()
    }
  }, [chart])
  return (
    <figure class="chart">
      <figcaption>{chart.title}</figcaption>
      <div ref={place} role="img" aria-label={summaryOf(chart)} />
    </figure>
  )
}

function dataOf({ places, series }: PageChart): uPlot.AlignedData {
  return [[...places], ...series.map(({ values }) => [...values])]
}

/** What the chart shows, for those who cannot see it. */
function summaryOf({ title, series, unit }: PageChart): string {
  const parts = series.map(({ label, values }) => {
    const known = values.filter((value) => value !== null)
    const [least, most] = [Math.min(...known), Math.max(...known)]
    return known.length === 0
      ? `${label}: no values`
      : `${label} between ${valueText(least, unit)} and ${valueText(most, unit)}`
  })
  return `${title}: ${parts.join('; ')}`
}

function valueText(value: number, unit: PageChart['unit']): string {
  if (unit === 'ms') return durationText(value)
  const text = value.toLocaleString('en', { maximumFractionDigits: value < 10 ? 1 : 0 })
  return `${text}${unit}`
}

function optionsOf(chart: PageChart, element: HTMLElement): Omit<uPlot.Options, 'width' | 'height'> {
  const style = getComputedStyle(element)
  const colour = (name: string): string => style.getPropertyValue(`--${name}`).trim() || '#888'
  const axis = { stroke: colour('muted'), grid: { stroke: colour('line'), width: 1 }, ticks: { show: false } }
  const isOverTime = chart.x === 'seconds'
  const xText = (value: number): string => durationText(isOverTime ? value * 1000 : value)
  return {
    cursor: {
      ...(isOverTime && { sync: { key: 'time' } }),
      drag: { x: isOverTime, y: false },
      points: { size: 7 },
    },
    legend: { live: true },
    scales: { x: { time: false, ...(!isOverTime && { distr: 3, log: 2 }) }, y: { range: rangeOf } },
    axes: [
      {
        ...axis,
        size: 28,
        values: (_, values) => values.map((value) => (value === null ? '' : xText(value))),
      },
      { ...axis, size: 58, values: (_, values) => values.map((value) => valueText(value, chart.unit)) },
    ],
    series: [
      {
        label: isOverTime ? 'at' : 'up to',
        value: (_, value: number | null) => (value === null ? '–' : xText(value)),
      },
      ...chart.series.map(({ label, tone }): uPlot.Series => {
        const stroke = colour(TONE_NAMES[tone])
        return {
          label: visible(label),
          stroke,
          width: 1.75,
          points: { show: chart.places.length < 3 },
          value: (_, value: number | null) => (value === null ? '–' : valueText(value, chart.unit)),
          ...(chart.kind === 'bars' && {
            fill: stroke,
            ...(uPlot.paths.bars && { paths: uPlot.paths.bars({ size: [0.82, 60] }) }),
          }),
          ...(tone === 'plain' && { dash: [4, 4] }),
        }
      }),
    ],
  }
}

const TONE_NAMES = {
  plain: 'plain-bar',
  good: 'good-bar',
  warn: 'warn-bar',
  bad: 'bad',
  accent: 'accent',
} as const

function rangeOf(_: uPlot, _least: number, most: number): [number, number] {
  return [0, (most || 1) * 1.08]
}

export function Tables({ tables }: { readonly tables: readonly PageTable[] }) {
  return (
    <>
      {tables.map(({ title, columns, rows }) => (
        <section class="figures" key={title} aria-label={title} tabIndex={0}>
          <table>
            <thead>
              <tr>
                {columns.map((column) => (
                  <th key={column} scope="col">
                    {visible(column)}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {rows.slice(0, MOST_ROWS).map(([name = '', ...cells]) => (
                <tr key={name}>
                  <th scope="row">{visible(name)}</th>
                  {cells.map((cell, at) => (
                    <td key={at}>{visible(cell)}</td>
                  ))}
                </tr>
              ))}
            </tbody>
          </table>
        </section>
      ))}
    </>
  )
}

const MOST_ROWS = 500
