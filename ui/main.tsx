import { render } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import { signal } from '@preact/signals'
import {
  filterText,
  openReport,
  problem,
  report,
  selected,
  shown,
  view,
  type Report,
  type View,
} from './data.ts'
import { Charts, Tables } from './charts.tsx'
import { CommandLine, Inspector } from './inspector.tsx'
import { RowList } from './list.tsx'
import { revealOnTimeline, Timeline } from './timeline.tsx'
import { visible } from './text.ts'
// oxlint-disable-next-line import/no-unassigned-import -- Vite takes the style from here
import './style.css'

const isHelpOpen = signal(false)

function App() {
  const current = report.value
  if (problem.value !== '') return <main class="problem">{problem.value}</main>
  if (current === undefined) return <main class="problem">Loading…</main>
  return <ReportPage current={current} />
}

function ReportPage({ current }: { readonly current: Report }) {
  const filter = useRef<HTMLInputElement>(null)
  useEffect(() => {
    const onKey = (event: KeyboardEvent): void => {
      const isTyping = event.target instanceof HTMLInputElement
      if (event.ctrlKey || event.metaKey || event.altKey) return
      if (event.key === 'Escape') isHelpOpen.value = false
      if (isTyping) return
      if (event.key === '/') {
        event.preventDefault()
        filter.current?.focus()
      } else if (event.key === '?') isHelpOpen.value = !isHelpOpen.value
      else if (event.key === 'n') selectFinding(current, 1)
      else if (event.key === 'p') selectFinding(current, -1)
      else if (event.key === 't') toggleTheme()
    }
    addEventListener('keydown', onKey)
    return () => removeEventListener('keydown', onKey)
  }, [current])
  return (
    <>
      <Head current={current} />
      <main class={current.data.charts.length > 0 ? 'scrolls' : undefined}>
        {current.data.charts.length > 0 && <Charts charts={current.data.charts} />}
        <Tables tables={current.data.tables} />
        <FilterBar current={current} input={filter} />
        {current.hasTimes && <Timeline current={current} />}
        <div class="panes">
          <RowList current={current} />
          <Inspector current={current} />
        </div>
      </main>
      {isHelpOpen.value && <Help />}
    </>
  )
}

const VERDICTS = { pass: 'passed', fail: 'failed', incomplete: 'incomplete', none: 'report' }

function Head({ current }: { readonly current: Report }) {
  const { command, subject, verdict, summary, started, notes, reproduce, generator } = current.data
  return (
    <header class="head">
      <div class="title">
        <svg viewBox="0 0 32 32" width="30" height="30" aria-hidden="true">
          <circle cx="16" cy="16" r="14" class="reel" />
          <circle cx="16" cy="9.5" r="3.4" class="hole" />
          <circle cx="10.4" cy="19.4" r="3.4" class="hole" />
          <circle cx="21.6" cy="19.4" r="3.4" class="hole" />
        </svg>
        <h1>
          reelay {command} <span class={`verdict verdict-${verdict}`}>{VERDICTS[verdict]}</span>
        </h1>
        <div class="tools">
          <button type="button" onClick={toggleTheme}>
            Light / dark
          </button>
          <button
            type="button"
            aria-expanded={isHelpOpen.value}
            onClick={() => (isHelpOpen.value = !isHelpOpen.value)}
          >
            Keys
          </button>
        </div>
      </div>
      <p class="subject">{visible(subject)}</p>
      <p class="summary">{visible(summary)}</p>
      {notes.map((note) => (
        <p key={note} class="note">
          {visible(note)}
        </p>
      ))}
      <details>
        <summary>About this report</summary>
        <p>
          Made by {generator}
          {started === undefined ? '' : `, session started ${started}`}. This file contains everything that it
          shows, and loads nothing.
        </p>
        <CommandLine text={reproduce} />
      </details>
    </header>
  )
}

interface FilterProps {
  readonly current: Report
  readonly input: { current: HTMLInputElement | null }
}

function FilterBar({ current, input }: FilterProps) {
  const { rows, error, isWaiting } = shown.value
  const counts = countTones(current)
  const views: readonly (readonly [View, string, number])[] = [
    ['all', 'All', current.size],
    ['failed', 'Failed', counts.bad],
    ['warned', 'Warnings', counts.warn],
    ['findings', 'With findings', Object.keys(current.data.findings).length],
  ]
  return (
    <search class="filter">
      <label for="filter" class="hidden">
        Filter
      </label>
      <input
        id="filter"
        ref={input}
        type="text"
        spellcheck={false}
        autocomplete="off"
        placeholder="Filter, as in reelay inspect --filter: tool:search status:error duration:>500ms text"
        value={filterText.value}
        aria-describedby="filter-state"
        aria-invalid={error !== ''}
        onInput={(event) => {
          filterText.value = event.currentTarget.value
        }}
        onKeyDown={(event) => {
          if (event.key === 'Escape') {
            filterText.value = ''
            event.currentTarget.blur()
          }
        }}
      />
      <div class="views" role="group" aria-label="Show">
        {views
          .filter(([name, , count]) => name === 'all' || count > 0)
          .map(([name, label, count]) => (
            <button
              key={name}
              type="button"
              class={`view-${name}`}
              aria-pressed={view.value === name}
              onClick={() => {
                view.value = name
              }}
            >
              {label} <span class="count">{count.toLocaleString('en')}</span>
            </button>
          ))}
      </div>
      <p id="filter-state" class={error === '' ? 'state' : 'state bad'} role="status">
        {error !== ''
          ? visible(error)
          : isWaiting
            ? 'Reading messages…'
            : `${rows.length.toLocaleString('en')} shown`}
      </p>
    </search>
  )
}

const toneCounts = new WeakMap<Report, { bad: number; warn: number }>()

function countTones(current: Report): { readonly bad: number; readonly warn: number } {
  const known = toneCounts.get(current)
  if (known !== undefined) return known
  const counts = { bad: 0, warn: 0 }
  for (let row = 0; row < current.size; row++) {
    const tone = current.tone(row)
    if (tone === 'bad' || tone === 'warn') counts[tone]++
  }
  toneCounts.set(current, counts)
  return counts
}

/** Selects the next row with findings, or the one before. */
function selectFinding(current: Report, by: 1 | -1): void {
  const { rows } = shown.value
  let place = rows.indexOf(selected.value)
  for (let left = rows.length; left > 0; left--) {
    place = (place + by + rows.length) % rows.length
    const row = rows[place] ?? 0
    if (current.findings(row).length === 0) continue
    selected.value = row
    revealOnTimeline(current, row)
    return
  }
}

function toggleTheme(): void {
  const root = document.documentElement
  const isDark =
    root.dataset['theme'] === 'dark' ||
    (root.dataset['theme'] === undefined && matchMedia('(prefers-color-scheme: dark)').matches)
  root.dataset['theme'] = isDark ? 'light' : 'dark'
}

const KEYS = [
  ['/', 'go to the filter'],
  ['↑ ↓ or j k', 'move in the list'],
  ['n, p', 'next or previous finding'],
  ['← → + −', 'pan and zoom the timeline, if it has the focus'],
  ['Tab', 'go to the next part'],
  ['t', 'light or dark'],
  ['Esc', 'clear the filter, close this'],
] as const

function Help() {
  return (
    <aside class="help" aria-label="Keys">
      <h2>Keys</h2>
      <dl>
        {KEYS.map(([key, what]) => (
          <div key={key}>
            <dt>{key}</dt>
            <dd>{what}</dd>
          </div>
        ))}
      </dl>
      <button type="button" onClick={() => (isHelpOpen.value = false)}>
        Close
      </button>
    </aside>
  )
}

const root = document.getElementById('app')
if (root !== null) {
  render(<App />, root)
  void openReport()
}
