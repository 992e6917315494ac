// `npm run verdicts`: how far the verdicts of `reelay verify` can be trusted, in figures. It seeds changes into a server, one at
// a time, and counts those that are found; and it verifies an unchanged server with volatile values and counts false alarms.
import { appendFileSync, readFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { changed } from './verdicts/change.mjs'
import { openBench, runAll } from './verdicts/bench.mjs'
import { falseAlarmsIn, judge } from './verdicts/judgement.mjs'
import { measureServers } from './verdicts/servers.mjs'
import { SCENES } from './verdicts/scenes/index.mjs'
import { TWO_VALUED_KINDS, VOLATILE_KINDS } from './verdicts/scenes/volatile.mjs'
import { printAlarms, printChanges, printServers, printSometimes } from './verdicts/tables.mjs'

const USAGE = `Usage: npm run verdicts -- [options]

  --part <name>        changes, volatile, sometimes or servers (repeatable; default: the first three)
  --only <text>        Only these shapes, scenes, changes (scene.change) or volatile kinds (repeatable)
  --except <text>      Not these scenes, changes or volatile kinds (repeatable)
  --era <era>          legacy or modern (default: both)
  --transport <kind>   stdio or http (default: each change once over stdio and once over HTTP, with noise or without in turn), or memory:
                       the server is in this process and the library is called, which is much quicker
  --profile <kind>     with or without a noise profile of the unchanged server (default: both in memory, otherwise without)
  --noise <kind>       with or without noise beside each change (default: both)
  --all                Every change over both transports, with and without noise
  --runs <n>           Runs of the unchanged server for each age of the tape (default: 3)
  --sample <n>         Only every nth change, for a quick look
  --offset <n>         Begin with this one of them, to make a long run in pieces (default: 0)
  --into <file>        Add the results to this file, a JSON line for each run
  --sum <file>         Print the tables of such a file; start nothing
  --quick              Call the library functions behind verify and learn instead of starting the program: ten times quicker
  --alone              Verify each volatile kind with a tape of its own
  --verbose            Say for each miss what the report had instead
  --json               Print every result as JSON
  --list               List the catalogue and check that each change has an effect; start nothing
  --smoke              A few cases of every part that have to pass; used by the gate`

const { values: options } = parseArgs({
  options: {
    part: { type: 'string', multiple: true },
    only: { type: 'string', multiple: true },
    except: { type: 'string', multiple: true },
    era: { type: 'string' },
    transport: { type: 'string' },
    noise: { type: 'string' },
    profile: { type: 'string' },
    runs: { type: 'string', default: '3' },
    all: { type: 'boolean', default: false },
    sample: { type: 'string', default: '1' },
    offset: { type: 'string', default: '0' },
    into: { type: 'string' },
    sum: { type: 'string' },
    quick: { type: 'boolean', default: false },
    alone: { type: 'boolean', default: false },
    verbose: { type: 'boolean', default: false },
    json: { type: 'boolean', default: false },
    list: { type: 'boolean', default: false },
    smoke: { type: 'boolean', default: false },
    help: { type: 'boolean', short: 'h', default: false },
  },
})
if (options.help) {
  console.log(USAGE)
  process.exit(0)
}

if (options.list) {
  listCatalogue()
  process.exit(0)
}

/** Cases that every build has to judge rightly: they keep the harness itself working. One way for each of them is enough. */
const SMOKE = {
  changes: { 'json.item-gone': 'legacy stdio with', 'elicitation.message': 'modern http with' },
  kinds: ['uuid', 'iso-milliseconds', 'prose-with-uuid'],
}

const DAY = 24 * 3_600_000
const AGES = [
  ['fresh', 0],
  ['2 days', -2 * DAY],
  ['400 days', -400 * DAY],
]

const eras = chosen('era', ['legacy', 'modern'])
const transports = chosen('transport', ['stdio', 'http', 'memory']).filter(
  (transport) => transport !== 'memory' || options.transport === 'memory',
)
const isInMemory = transports.includes('memory')
const profiles =
  isInMemory || options.profile !== undefined ? chosen('profile', ['without', 'with']) : ['without']
/** Verifying in memory mostly waits for values that change slowly. */
const parallel = isInMemory || options.quick ? 24 : undefined
const noises = chosen('noise', ['without', 'with'])
const parts = options.part ?? ['changes', 'volatile', 'sometimes']
if (options.sum !== undefined) {
  printAll(sumOf(readFileSync(options.sum, 'utf8')))
  process.exit()
}
const bench = await openBench({ isQuick: options.quick })
const controls = new Map()
const began = Date.now()
const changes = parts.includes('changes') ? await measureChanges() : []
const alarms = parts.includes('volatile') ? await measureVolatile() : []
const sometimes = parts.includes('sometimes') && !options.smoke ? await measureSometimes() : []
const servers = parts.includes('servers') ? await measureServers(Number(options.runs)) : []
bench.close()

const measured = { changes, alarms, sometimes, servers }
if (options.into !== undefined) appendFileSync(options.into, `${JSON.stringify(measured)}\n`)
if (options.json) console.log(JSON.stringify(measured, null, 2))
else printAll(measured)
console.error(`\n${Math.round((Date.now() - began) / 1000)} s`)

function printAll({ changes: found, alarms: volatile, sometimes: flaky, servers: others }) {
  if (found.length > 0) printChanges(found, options)
  if (volatile.length > 0) printAlarms(volatile, options)
  if (flaky.length > 0) printSometimes(flaky, options)
  if (others.length > 0) printServers(others, options)
  const isGood =
    found.every(({ isNamed }) => isNamed) &&
    volatile.every(({ alarmed }) => alarmed === 0) &&
    flaky.every(({ isFound }) => isFound) &&
    others.every(({ alarmed, missed = 0 }) => alarmed + missed === 0)
  process.exitCode = isGood ? 0 : 1
}

/** Adds up the runs of several pieces. */
function sumOf(text) {
  const pieces = text
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
  const all = (name) => pieces.flatMap((piece) => piece[name])
  const added = new Map()
  for (const one of all('alarms')) {
    const key = [one.kind, one.age, one.era, one.transport, one.profile].join(' ')
    const known = added.get(key)
    if (known === undefined) added.set(key, { ...one })
    else {
      known.runs += one.runs
      known.alarmed += one.alarmed
      if (one.why !== '') known.why = one.why
    }
  }
  return {
    changes: all('changes'),
    alarms: [...added.values()],
    sometimes: all('sometimes'),
    servers: all('servers'),
  }
}

/** Each change alone, and the unchanged server once for each tape: an alarm there would make every find doubtful. */
async function measureChanges() {
  const jobs = []
  for (const [era, transport, noise] of combinations(eras, transports, noises))
    for (const scene of SCENES) {
      const way = `${era} ${transport} ${noise}`
      const wanted = scene.changes.filter(
        (change, n) => isWanted(scene, change, way) && isOfEra(change, era) && isTurnOf(n, transport, noise),
      )
      if (wanted.length === 0) continue
      const tape = { scene: scene.name, era, transport, noise: noise === 'with' }
      for (const profile of profiles)
        for (const change of [undefined, ...wanted])
          jobs.push({ scene, change, era, transport, noise, profile, tape })
    }
  const picked = jobs.filter((_, n) => isSampled(n))
  const results = await runAll(picked, measureChange, pool('changes', picked.length))
  return results.filter((result) => result !== undefined)
}

/** By default a change that is tried over stdio without noise is tried over HTTP with noise, and the other way round. */
function isTurnOf(n, transport, noise) {
  if (options.all || options.smoke || options.transport !== undefined) return true
  return (n % 2 === 0) === ((transport === 'stdio') === (noise === 'without'))
}

async function measureChange({ scene, change, era, transport, noise, profile, tape: wanted }) {
  const facts = { era, transport, noise, profile, shape: scene.shape }
  const hasProfile = profile === 'with'
  const { tape } = await bench.tapeOf(wanted)
  const settings = { scene: scene.name, noise: noise === 'with' }
  const key = JSON.stringify([wanted, profile])
  if (!controls.has(key)) controls.set(key, bench.verify({ tape, settings, transport, hasProfile }))
  const control = await controls.get(key)
  if (change === undefined) {
    const found = falseAlarmsIn(control)
    const why = found.map(({ step, text }) => `${step}: ${text}`).join(' | ')
    return {
      ...facts,
      id: `${scene.name} (unchanged)`,
      isControl: true,
      isFound: found.length > 0,
      isNamed: found.length === 0,
      why,
    }
  }
  const run = await bench.verify({
    tape,
    settings: { ...settings, change: change.id },
    transport,
    hasProfile,
  })
  return {
    ...facts,
    id: `${scene.name}.${change.id}`,
    ...judge({ scene, change, era, ...run, control: control.report }),
  }
}

/** The unchanged server, with tapes of different ages; many kinds share one tape unless they are verified alone. */
async function measureVolatile() {
  const kinds = VOLATILE_KINDS.filter((kind) =>
    options.smoke ? SMOKE.kinds.includes(kind) : isNamedByOnly([kind, 'volatile']),
  )
  if (kinds.length === 0) return []
  const runs = options.smoke ? 1 : Number(options.runs)
  const ways = options.smoke
    ? [['legacy'], ['stdio'], AGES.slice(1, 2), ['without']]
    : [eras, transports, AGES, profiles]
  const jobs = combinations(...ways).flatMap(([era, transport, [age, shift], profile]) =>
    setsOf(kinds, profile).flatMap((set) =>
      Array.from({ length: runs }, (_, run) => ({ era, transport, age, shift, profile, set, run })),
    ),
  )
  const seen = await runAll(jobs, measureAlarms, pool('unchanged servers', jobs.length))
  const results = new Map()
  for (const [n, { era, transport, age, profile, set }] of jobs.entries())
    for (const kind of set) {
      const key = [kind, age, era, transport, profile].join(' ')
      if (seen[n] === undefined) continue
      const result = results.get(key) ?? { kind, age, era, transport, profile, runs: 0, alarmed: 0, why: '' }
      const alarm = seen[n].find(({ step }) => step === kind || !set.includes(step))
      result.runs += 1
      if (alarm !== undefined) {
        result.alarmed += 1
        result.why = alarm.text
      }
      results.set(key, result)
    }
  return [...results.values()]
}

/**
 * The kinds that are verified with one tape. What nobody can decide without a profile has a tape of its own there: it fails almost
 * always, and beside a failure fewer runs are made, so that it would speak for all others.
 */
function setsOf(kinds, profile) {
  if (options.alone || isInMemory) return kinds.map((kind) => [kind])
  if (profile === 'with') return [kinds]
  const [undecidable, others] = [true, false].map((wanted) =>
    kinds.filter((kind) => TWO_VALUED_KINDS.includes(kind) === wanted),
  )
  return [others, undecidable].filter((set) => set.length > 0)
}

/** In memory, each tenth run has a tape of its own, because what was recorded by chance decides too. */
async function measureAlarms({ era, transport, shift, set, profile, run }) {
  const take = isInMemory ? Math.floor(run / 10) : Number(options.offset)
  const wanted = { scene: 'volatile', era, transport, shift, kinds: set, take }
  const { tape, folder } = await bench.tapeOf(wanted)
  const settings = { scene: 'volatile', folder }
  return falseAlarmsIn(await bench.verify({ tape, settings, transport, hasProfile: profile === 'with' }))
}

/** Changes that only every other run has, beginning with the first run or with the second. */
async function measureSometimes() {
  const picked = SCENES.flatMap((scene) =>
    scene.changes
      .filter((change) => isWanted(scene, change))
      .filter((_, n) => options.only !== undefined || n === 0 || n === 4)
      .map((change) => ({ scene, change })),
  )
  const jobs = combinations(eras, transports, noises, ['odd', 'even'], picked)
    .map(([era, transport, noise, parity, { scene, change }]) => ({
      era,
      transport,
      noise,
      parity,
      scene,
      change,
    }))
    .filter(({ era, change }) => isOfEra(change, era))
    .filter((_, n) => isSampled(n))
  const results = await runAll(
    jobs,
    async ({ era, transport, noise, parity, scene, change }) => {
      const tape = await bench.tapeOf({ scene: scene.name, era, transport, noise: noise === 'with' })
      const settings = { scene: scene.name, change: change.id, noise: noise === 'with', sometimes: parity }
      const { code, report } = await bench.verify({ tape: tape.tape, settings, transport })
      const verdict = report?.summary.verdict ?? 'no report'
      return {
        id: `${scene.name}.${change.id}`,
        era,
        transport,
        noise,
        parity,
        isFound: code === 1,
        verdict,
        runs: report?.runs,
      }
    },
    pool('changes in every other run', jobs.length),
  )
  return results.filter((result) => result !== undefined)
}

function isSampled(n) {
  return n % Number(options.sample) === Number(options.offset)
}

function listCatalogue() {
  for (const { name, shape, document, changes: own } of SCENES) {
    for (const change of own) changed(document, change)
    console.log(`${name} (${shape}): ${own.map(({ id }) => id).join(', ')}`)
  }
  console.log(`volatile: ${VOLATILE_KINDS.join(', ')}`)
  const counts = ['legacy', 'modern'].map((era) => {
    const all = SCENES.flatMap((scene) => scene.changes.filter((change) => isOfEra(change, era)))
    return `${all.length} ${era}`
  })
  console.log(`${counts.join(', ')}, ${VOLATILE_KINDS.length} volatile kinds`)
}

function isWanted(scene, change, way) {
  const id = `${scene.name}.${change.id}`
  if (options.smoke) return SMOKE.changes[id] === way
  return isNamedByOnly([id, scene.name, scene.shape])
}

function isNamedByOnly(names) {
  if (options.except?.some((name) => names.includes(name))) return false
  return options.only === undefined || options.only.some((name) => names.includes(name))
}

function isOfEra({ eras: own = ['legacy', 'modern'] }, era) {
  return own.includes(era)
}

function chosen(name, all) {
  if (options[name] === undefined) return all
  if (all.includes(options[name])) return [options[name]]
  console.error(`--${name} has to be one of: ${all.join(', ')}`)
  process.exit(2)
}

function combinations(...lists) {
  return lists.reduce((made, list) => made.flatMap((row) => list.map((item) => [...row, item])), [[]])
}

function pool(what, total) {
  return { parallel, onDone: progressOf(what, total) }
}

function progressOf(what, total) {
  if (!process.stderr.isTTY) return () => {}
  let done = 0
  return () => {
    done += 1
    process.stderr.write(`\r${what}: ${done} of ${total}${done === total ? '\n' : ''}`)
  }
}
