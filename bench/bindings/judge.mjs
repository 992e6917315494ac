// Judges bindings by the truth: re-binding what was sent in one run onto the answers of another must give what was sent there.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { findBindings } from '../../dist/bindings/find/find-bindings.js'
import { confirmBindings } from '../../dist/bindings/find/confirm.js'
import { LiveValueBinder } from '../../dist/bindings/carry/live-value-binder.js'
import { loadTape } from '../../dist/store/file/read.js'
import { decodeLeaf, jsonLeaves } from '../../dist/json/find-replace.js'
import { memberRanges, findRange } from '../../dist/json/find-replace.js'
import { formatPath } from '../../dist/json/path.js'

const FOLDER = join(import.meta.dirname, '../../test/fixtures/bindings')
export const NAMES = ['handles', 'desk', 'everything', 'memory', 'filesystem']

/** One row for each value that a client sent: was it carried over, was it bound, and did the live value take its place. */
export async function judgeTape(name, { confirmed = false } = {}) {
  const [one, other] = await Promise.all(
    ['a', 'b'].map((run) => loadTape(join(FOLDER, `${name}-${run}.tape.jsonl`))),
  )
  const { started } = one.header
  const found = findBindings(one.turns, { started })
  const runs = { turns: one.turns, other: other.turns, otherStarted: other.header.started }
  const { bindings } = confirmed ? confirmBindings(found, runs) : found
  const bound = rebound(one, other, bindings)
  const labels = JSON.parse(readFileSync(join(FOLDER, `${name}.labels.json`), 'utf8'))
  return labels.map((label) => judgeValue(label, bound.get(label.request), bindings))
}

/** What is sent in the second run's place, beside what was sent there. */
function rebound(one, other, bindings) {
  let now = 0
  const rebinder = new LiveValueBinder(bindings, { now: () => now })
  const sent = new Map()
  for (const { at, turn } of happenings(one.turns)) {
    const twin = other.turns[one.turns.indexOf(turn)]
    if (at === 'answer') {
      rebinder.learn(turn.response, twin.response.text)
      continue
    }
    now = Date.parse(other.header.started) + twin.trigger.t
    const { text } = rebinder.fill(turn.trigger)
    sent.set(turn.trigger.message.id, {
      frame: turn.trigger.n,
      recorded: turn.trigger.text,
      text,
      live: twin.trigger.text,
    })
  }
  return sent
}

/** What was sent and answered, in its order. */
function happenings(turns) {
  return turns
    .flatMap((turn) => [
      { at: 'request', n: turn.trigger.n, turn },
      ...(turn.response ? [{ at: 'answer', n: turn.response.n, turn }] : []),
    ])
    .toSorted((a, b) => a.n - b.n)
}

function judgeValue({ request, path, key, bound }, { frame, recorded, text, live }, bindings) {
  const consumers = bindings.flatMap((binding) => binding.consumers.filter((one) => one.frame === frame))
  const isHere = (one) =>
    formatPath(one.path) === formatPath(path) && (key === undefined) === (one.use !== 'key')
  return {
    request,
    path: formatPath(path),
    value: valueAt(recorded, { path, key }),
    shouldBe: bound,
    is: consumers.some(isHere),
    holds: sameValue(recorded, text, live, { path, key }),
  }
}

// Names of members may be others now, so a value is found by its place in the text.
function sameValue(recorded, text, live, { path, key }) {
  if (key !== undefined) return valueAt(text, { path, key }) === valueAt(live, { path, key })
  const place = jsonLeaves(recorded).findIndex((leaf) => formatPath(leaf.path) === formatPath(path))
  return decodeLeaf(text, jsonLeaves(text)[place]) === decodeLeaf(live, jsonLeaves(live)[place])
}

function valueAt(text, { path, key }) {
  const range = findRange(text, path)
  const json = text.slice(range.start, range.end)
  return key === undefined
    ? decodeLeaf(json, { start: 0, end: json.length })
    : [...memberRanges(json).keys()][key]
}

/** Precision: of what was bound, how much is carried over and right. Recall: of what is carried over, how much is bound and right. */
export function score(rows) {
  const right = rows.filter(({ shouldBe, is, holds }) => shouldBe && is && holds).length
  const made = rows.filter(({ is }) => is).length
  const wanted = rows.filter(({ shouldBe }) => shouldBe).length
  return {
    values: rows.length,
    wanted,
    made,
    right,
    precision: made === 0 ? 1 : right / made,
    recall: right / wanted,
  }
}
