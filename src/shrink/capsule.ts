import { gunzipSync, gzipSync } from 'node:zlib'
import { ReelayError } from '../errors.ts'
import { isObject, member, parseJson } from '../json/parse.ts'
import { exchangeOutcome, type ExchangeOutcome } from '../protocol/outcome.ts'
import { messagesOfTurn, turnLabel, type Turn } from '../tape/turns.ts'
import { escapeControlChars, quoteShellWord, truncateText } from '../text.ts'
import { VERSION } from '../version.ts'
import { isHandshakeTurn } from './candidate.ts'

/** A failing session in one file that anybody can open, and that runs again with `reelay capsule run`. */
export interface Capsule {
  readonly facts: CapsuleFacts
  /** The text of the tape. */
  readonly tape: string
}

export interface CapsuleFacts {
  readonly capsule: 1
  readonly by: string
  /** The condition that decides whether a session fails, as in `--fails`. */
  readonly fails: string
  readonly call: string
  readonly signature: string
  readonly summary: string
  /** How the requests were sent. */
  readonly isSequential: boolean
  readonly hasPauses: boolean
  /** Tools that are called and may write: they are sent only if the user allows it. */
  readonly writes: readonly string[]
  /** The server that failed, without secrets. It is never started by itself. */
  readonly server: string
  /** The session in at most ten lines. */
  readonly story: readonly string[]
  /** What `reelay share` found when it made the tape. */
  readonly proof: string
}

/** Tells a session in at most ten lines: the calls in order, and how it ends. */
export function tellStory(turns: Iterable<Turn>, summary: string): readonly string[] {
  const told = [...turns].filter((turn) => turn.trigger !== undefined && !isHandshakeTurn(turn))
  const isOne = new Set(told.map(({ trigger }) => trigger?.conn)).size < 2
  const lines = told.map((turn) => (isOne ? '' : `connection ${turn.trigger?.conn}: `) + storyLine(turn))
  const fits = lines.length < MOST_LINES
  const shown = fits
    ? lines
    : [
        ...lines.slice(0, FIRST_LINES),
        `… ${lines.length - MOST_LINES + 2} more messages …`,
        ...lines.slice(FIRST_LINES - MOST_LINES + 2),
      ]
  return [...shown, `It fails: ${truncateText(escapeControlChars(summary), LINE_WIDTH)}`]
}

const MOST_LINES = 10
const FIRST_LINES = 4
const LINE_WIDTH = 160

function storyLine(turn: Turn): string {
  const message = turn.trigger?.message
  if (message === undefined || !('method' in message)) return turnLabel(turn)
  const name = member(message.params, 'name') ?? member(message.params, 'uri') ?? ''
  const given = member(message.params, 'arguments')
  const words = [
    message.method,
    typeof name === 'string' ? name : '',
    given === undefined ? '' : JSON.stringify(given),
  ]
  const asked = words.filter((word) => word !== '').join(' ')
  const response = turn.response?.message
  const outcome =
    message.kind === 'request'
      ? `: ${outcomeWord(exchangeOutcome(response?.kind === 'response' ? response : undefined, 'unanswered'))}`
      : ''
  return `${turnLabel(turn)} ${truncateText(escapeControlChars(asked), LINE_WIDTH)}${outcome}`
}

function outcomeWord(outcome: ExchangeOutcome): string {
  if (outcome.kind === 'error') return `error ${outcome.code}`
  if (outcome.kind === 'tool-error') return 'the tool failed'
  return outcome.kind === 'unanswered' ? 'no response' : outcome.kind
}

/** Writes a capsule as a page that opens from disk, runs no script and loads nothing. */
export function capsuleAsHtml({ facts, tape }: Capsule, turns: readonly Turn[]): string {
  const title = `${facts.call} fails`
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeHtml(title)}</title>
<style>${STYLE}</style>
</head>
<body>
<main>
<h1>${escapeHtml(title)}</h1>
<p class="summary">${escapeHtml(facts.summary)}</p>
<ol>
${facts.story.map((line) => `<li>${escapeHtml(line)}</li>`).join('\n')}
</ol>
<h2>Run it</h2>
<pre>reelay capsule run &lt;this file&gt;${escapeHtml(allowOption(facts))} -- &lt;your server command&gt;</pre>
<p>${escapeHtml(writesNote(facts))}Exit code 1 means that it still fails, 0 that it does not. The failing server was <code>${escapeHtml(facts.server)}</code>, and the condition is <code>${escapeHtml(facts.fails)}</code>. ${escapeHtml(facts.proof)}</p>
<h2>Messages</h2>
${turns.map(turnAsHtml).join('\n')}
</main>
<template id="${FACTS_ID}">${escapeHtml(JSON.stringify(facts))}</template>
<template id="${TAPE_ID}">${packedTape(tape)}</template>
</body>
</html>
`
}

/** The option without which calls of the session are held back. */
function allowOption({ writes }: Pick<CapsuleFacts, 'writes'>): string {
  return writes.length === 0 ? '' : ` --allow ${quoteShellWord(writes.join())}`
}

function writesNote({ writes }: CapsuleFacts): string {
  return writes.length === 0
    ? ''
    : `Calls of ${writes.join(', ')} may write: use a server that may lose its data. `
}

const FACTS_ID = 'reelay-capsule'
const TAPE_ID = 'reelay-capsule-tape'

const STYLE = `
:root{color-scheme:light dark;--line:#d9dce1;--muted:#5c6470;--panel:#f5f6f8;--bad:#b3261e}
@media(prefers-color-scheme:dark){:root{--line:#3a3f47;--muted:#a2a9b4;--panel:#1d2025;--bad:#ff8a80}}
body{margin:0;font:15px/1.5 system-ui,sans-serif}
main{max-width:60rem;margin:0 auto;padding:2rem 1rem}
h1{font-size:1.4rem;margin:0 0 .25rem}h2{font-size:1.05rem;margin:2rem 0 .5rem}
.summary{color:var(--bad);margin:0 0 1rem;overflow-wrap:anywhere}
li{overflow-wrap:anywhere}code,pre{font:13px/1.5 ui-monospace,monospace}
pre{background:var(--panel);border:1px solid var(--line);border-radius:6px;padding:.75rem;overflow:auto;max-height:30rem;white-space:pre-wrap;overflow-wrap:anywhere}
details{border-top:1px solid var(--line);padding:.4rem 0}summary{cursor:pointer}
figure{margin:.5rem 0}figcaption{color:var(--muted);font-size:.85rem}`

function turnAsHtml(turn: Turn): string {
  const messages = messagesOfTurn(turn).map(({ dir, text }) => {
    const json = parseJson(text)
    const shown = json === undefined ? text : JSON.stringify(json, undefined, 2)
    const cut = shown.length > MOST_MESSAGE_CHARACTERS ? `${shown.slice(0, MOST_MESSAGE_CHARACTERS)}…` : shown
    return `<figure><figcaption>${dir === 'c2s' ? 'client → server' : 'server → client'}</figcaption><pre>${escapeHtml(cut)}</pre></figure>`
  })
  return `<details><summary>${escapeHtml(storyLine(turn))}</summary>\n${messages.join('\n')}\n</details>`
}

/** A longer message is cut in the page; the tape in it has all of it. */
const MOST_MESSAGE_CHARACTERS = 20_000

function escapeHtml(text: string): string {
  return escapeControlChars(text.replaceAll('\n', NEWLINE_MARK))
    .replaceAll(NEWLINE_MARK, '\n')
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
}

/** Keeps line breaks while other control characters are escaped. It is not a character. */
const NEWLINE_MARK = '\u{F8FF}'

function unescapeHtml(text: string): string {
  return text
    .replaceAll('&quot;', '"')
    .replaceAll('&gt;', '>')
    .replaceAll('&lt;', '<')
    .replaceAll('&amp;', '&')
}

/** Writes a capsule as Markdown for an issue tracker. Returns `undefined` if it would be too long for a comment. */
export function capsuleAsMarkdown({ facts, tape }: Capsule): string | undefined {
  const text = `### ${facts.call} fails

${facts.story.map((line, at) => `${at + 1}. \`${line.replaceAll('`', "'")}\``).join('\n')}

To run it, save this text to a file: \`reelay capsule run <file>${allowOption(facts).replaceAll('`', "'")} -- <your server command>\`. ${writesNote(facts)}${facts.proof}

<details><summary>Session</summary>

\`\`\`${FENCE}
${JSON.stringify(facts).replaceAll('`', String.raw`\u0060`)}
${packedTape(tape)}
\`\`\`

</details>
`
  return Buffer.byteLength(text) > MOST_MARKDOWN_BYTES ? undefined : text
}

const FENCE = 'reelay-capsule'
const MOST_MARKDOWN_BYTES = 60_000

function packedTape(tape: string): string {
  return gzipSync(tape, { level: 9 }).toString('base64')
}

/** Reads a capsule of either form. */
export function readCapsule(text: string, path: string): Capsule {
  const html = templateIn(text, FACTS_ID)
  const fenced = new RegExp(`\`\`\`${FENCE}\\s*\\n([^\\n]*)\\n([^\`]*)\`\`\``).exec(text)
  const [facts, packed] =
    html === undefined ? [fenced?.[1], fenced?.[2]] : [unescapeHtml(html), templateIn(text, TAPE_ID)]
  if (facts === undefined || packed === undefined)
    throw new ReelayError('CAPSULE_INVALID', `${path} is not a capsule`, {
      hint: 'reelay shrink writes capsules, as .capsule.html and .capsule.md files',
    })
  const read = readFacts(parseJson(facts))
  const tape = unpackTape(packed)
  if (read === undefined || tape === undefined)
    throw new ReelayError('CAPSULE_INVALID', `${path} is a damaged capsule`, {
      hint: 'ask for the file again; text that was copied from a web page may have lost characters',
    })
  return { facts: read, tape }
}

function templateIn(text: string, id: string): string | undefined {
  const start = text.indexOf(`<template id="${id}">`)
  const end = text.indexOf('</template>', start)
  return start < 0 || end < 0 ? undefined : text.slice(text.indexOf('>', start) + 1, end)
}

function unpackTape(packed: string): string | undefined {
  try {
    return gunzipSync(Buffer.from(packed.replaceAll(/\s/g, ''), 'base64'), {
      maxOutputLength: MOST_TAPE_BYTES,
    }).toString('utf8')
  } catch {
    return undefined // it is cut, changed, or a bomb
  }
}

const MOST_TAPE_BYTES = 256 * 1024 * 1024

function readFacts(value: unknown): CapsuleFacts | undefined {
  if (!isObject(value) || value['capsule'] !== 1) return undefined
  const text = (name: string): string => (typeof value[name] === 'string' ? value[name] : '')
  const texts = (name: string): readonly string[] => {
    const list = value[name]
    return Array.isArray(list) ? list.map(String) : []
  }
  return {
    capsule: 1,
    by: text('by'),
    fails: text('fails'),
    call: text('call'),
    signature: text('signature'),
    summary: text('summary'),
    isSequential: value['isSequential'] === true,
    hasPauses: value['hasPauses'] === true,
    writes: texts('writes'),
    server: text('server'),
    story: texts('story'),
    proof: text('proof'),
  }
}

/** The facts of a new capsule. */
export function capsuleFacts(facts: Omit<CapsuleFacts, 'capsule' | 'by'>): CapsuleFacts {
  return { capsule: 1, by: `reelay ${VERSION}`, ...facts }
}
