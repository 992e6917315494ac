import { useEffect, useState } from 'preact/hooks'
import { selected, type PageFinding, type PageMessage, type Report, type RowMessages } from './data.ts'
import { Compare } from './compare.tsx'
import { JsonTree, parseNested } from './json-tree.tsx'
import { durationText, visible } from './text.ts'

type Tab = 'findings' | 'compare' | 'messages'

/** Everything about the selected row. */
export function Inspector({ current }: { readonly current: Report }) {
  const row = selected.value
  const [messages, setMessages] = useState<RowMessages | undefined>(undefined)
  const [chosen, setChosen] = useState<Tab | undefined>(undefined)
  useEffect(() => {
    let isCurrent = true
    setMessages(undefined)
    const load = async (): Promise<void> => {
      const found = await current.messages(row)
      if (isCurrent) setMessages(found)
    }
    if (row >= 0) void load()
    return () => {
      isCurrent = false
    }
  }, [current, row])
  if (row < 0 || row >= current.size)
    return <section class="inspector empty">Select a row to see its messages.</section>
  const findings = current.findings(row)
  const { sides } = current.data
  const pair = messages && sides && comparedTexts(messages)
  const tabs: readonly Tab[] = [
    ...(findings.length > 0 ? (['findings'] as const) : []),
    ...(pair ? (['compare'] as const) : []),
    ...((messages?.length ?? 0) > 0 ? (['messages'] as const) : []),
  ]
  // On a tape the messages say most; of a comparison it is what was found.
  const first = sides === undefined && tabs.includes('messages') ? 'messages' : tabs[0]
  const tab = chosen !== undefined && tabs.includes(chosen) ? chosen : first
  return (
    <section class="inspector" aria-label="Details">
      <RowHead current={current} row={row} />
      <div class="tabs" role="tablist" aria-label="Details of the selected row">
        {tabs.map((name) => (
          <button
            key={name}
            type="button"
            role="tab"
            id={`tab-${name}`}
            aria-controls="tab-panel"
            aria-selected={tab === name}
            tabIndex={tab === name ? 0 : -1}
            onClick={() => setChosen(name)}
            onKeyDown={(event) => {
              const by = event.key === 'ArrowRight' ? 1 : event.key === 'ArrowLeft' ? -1 : 0
              const next = tabs[(tabs.indexOf(name) + by + tabs.length) % tabs.length]
              if (by === 0 || next === undefined) return
              setChosen(next)
              document.getElementById(`tab-${next}`)?.focus()
            }}
          >
            {TAB_NAMES[name]}
            <span class="count">
              {name === 'findings' ? findings.length : name === 'messages' ? messages?.length : ''}
            </span>
          </button>
        ))}
      </div>
      <div
        class="panel"
        id="tab-panel"
        role={tab === undefined ? undefined : 'tabpanel'}
        aria-labelledby={tab === undefined ? undefined : `tab-${tab}`}
        tabIndex={0}
        key={row}
      >
        {tab === 'findings' &&
          findings.map((found, at) => <FindingCard key={at} found={found} sides={sides} />)}
        {tab === 'compare' && pair && sides && <Compare sides={sides} before={pair[0]} after={pair[1]} />}
        {tab === 'messages' &&
          messages?.map((message, at) => <MessageCard key={at} message={message} sides={sides} />)}
        {tab === undefined && (
          <p class="empty">
            {messages === undefined ? 'Loading…' : 'As expected. There is nothing more to show.'}
          </p>
        )}
      </div>
    </section>
  )
}

const TAB_NAMES: Readonly<Record<Tab, string>> = {
  findings: 'Findings',
  compare: 'Compare',
  messages: 'Messages',
}

/** The last message of the server on each side, which is the response. */
function comparedTexts(messages: RowMessages): readonly [string | undefined, string | undefined] | undefined {
  const last = (side: 0 | 1): string | undefined =>
    messages.filter((message) => message.side === side && message.dir === 's2c').at(-1)?.text
  const [before, after] = [last(0), last(1)]
  return before === undefined && after === undefined ? undefined : [before, after]
}

function RowHead({ current, row }: { readonly current: Report; readonly row: number }) {
  const { rows } = current.data
  const number = rows.number[row] ?? 0
  const duration = rows.duration[row] ?? -1
  const command = current.text('reproduce', row)
  const target = current.text('target', row)
  return (
    <header class="row-head">
      <h2>
        {number > 0 && <span class="number">#{number}</span>} {visible(current.text('method', row))}{' '}
        {target !== '' && <strong>{visible(target)}</strong>}
      </h2>
      <p>
        <span class={`chip tone-${current.tone(row)}`}>{current.text('status', row)}</span>
        {duration >= 0 && <span>{durationText(duration)}</span>}
        {(rows.at[row] ?? -1) >= 0 && <span>at +{durationText(rows.at[row] ?? 0)}</span>}
        {current.text('link', row) !== '' && <span>{visible(current.text('link', row))}</span>}
      </p>
      {command !== '' && <CommandLine text={command} />}
    </header>
  )
}

/** A command that can be copied. */
export function CommandLine({ text }: { readonly text: string }) {
  const [isCopied, setCopied] = useState(false)
  return (
    <div class="command">
      <code>{visible(text)}</code>
      <button
        type="button"
        onClick={() => {
          void navigator.clipboard.writeText(text).then(
            () => setCopied(true),
            () => setCopied(false),
          )
        }}
      >
        {isCopied ? 'Copied' : 'Copy'}
      </button>
    </div>
  )
}

interface FindingProps {
  readonly found: PageFinding
  readonly sides: readonly [string, string] | undefined
}

function FindingCard({ found, sides }: FindingProps) {
  const { rule, title, severity, message, path, before, after } = found
  return (
    <article class={`finding severity-${severity}`}>
      <h3>
        <span class="rule">{rule}</span>
        <span class="title">{title}</span>
      </h3>
      <p>
        {path !== undefined && <code class="path">{visible(path)}</code>} {visible(message)}
      </p>
      {(before !== undefined || after !== undefined) && (
        <dl>
          <div class="before">
            <dt>{sides?.[0] ?? 'before'}</dt>
            <dd>{before === undefined ? <em>nothing</em> : visible(before)}</dd>
          </div>
          <div class="after">
            <dt>{sides?.[1] ?? 'after'}</dt>
            <dd>{after === undefined ? <em>nothing</em> : visible(after)}</dd>
          </div>
        </dl>
      )}
    </article>
  )
}

interface MessageProps {
  readonly message: PageMessage
  readonly sides: readonly [string, string] | undefined
}

function MessageCard({ message, sides }: MessageProps) {
  const { label, dir, at, side, text } = message
  const [isRaw, setRaw] = useState(false)
  const value = parseNested(text)
  const name = side === undefined || sides === undefined ? label : `${sides[side]}: ${label}`
  return (
    <article class={`message dir-${dir}`}>
      <h3>
        <span class="arrow" aria-hidden="true">
          {dir === 'c2s' ? '→' : '←'}
        </span>
        <span class="label">{visible(name)}</span>
        <span class="who">{dir === 'c2s' ? 'client to server' : 'server to client'}</span>
        {at !== undefined && <span class="at">+{durationText(at)}</span>}
        <button type="button" aria-pressed={isRaw} onClick={() => setRaw(!isRaw)}>
          Raw
        </button>
      </h3>
      {isRaw || value === undefined ? (
        <pre tabIndex={0}>{visible(text.slice(0, 200_000))}</pre>
      ) : (
        <JsonTree value={value} />
      )}
    </article>
  )
}
