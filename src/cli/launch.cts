// Becomes dist/cli/main.js. A client waits until the recorder, or the served tape, has started, and much of that time is
// spent on compiling, so this file uses V8's code cache of an earlier start if there is one. Everything works without it.
const fs = process.getBuiltinModule('node:fs')
const path = process.getBuiltinModule('node:path')
const { Script } = process.getBuiltinModule('node:vm')

/** The modules of the packed files that are loaded. Each is a function that runs it at the first call. */
type Modules = Record<string, () => unknown>
type Body = (shared: Modules, load: (file: string) => Modules, require: NodeJS.Require, file: string) => void

/** The files that have what these commands run first. Another command starts with the file that has most of the program. */
const STARTS: Readonly<Record<string, string>> = { record: './record.js', serve: './serve.js' }
const PROGRAM = './reelay.js'
const COMMANDS = './commands.js'
/** The commands that a client or a person waits for. Each has its own caches, because they compile different code. */
const WAITED_FOR = ['record', 'serve', 'inspect', 'replay', 'verify', '--help']
/** The delay lets the first messages pass. It is short, because V8 discards code that has not run for a while. */
const SAVE_AFTER_MS = 1000
/** A command with more words, such as `reelay serve <tape> --http`, runs more of the program and has its own caches. */
const PLAIN_WORDS = 4
const KEPT_MS = 60 * 24 * 60 * 60 * 1000

/** Scripts that were compiled in this run, by the path of their cache. */
const unsaved = new Map<string, InstanceType<typeof Script>>()
let isExitWatched = false
let isProgramLoaded = false

const verb = process.argv[2] ?? ''
const isCached = WAITED_FOR.includes(verb) && isPlainNode()
const shared: Modules = {}
load((Object.hasOwn(STARTS, verb) && STARTS[verb]) || PROGRAM)['main']?.()

/** Options of Node may change what V8 compiles, and caches of different options would replace each other. */
function isPlainNode(): boolean {
  const { NODE_OPTIONS = '', NODE_DISABLE_COMPILE_CACHE = '' } = process.env
  return process.execArgv.length === 0 && NODE_OPTIONS === '' && NODE_DISABLE_COMPILE_CACHE === ''
}

/** Adds the modules of a packed file. Most modules need some of the main file, which is not loaded while messages pass. */
function load(name: string): Modules {
  if (name === COMMANDS && !isProgramLoaded) load(PROGRAM)
  isProgramLoaded ||= name === PROGRAM
  const file = path.join(__dirname, name)
  const body: Body = compiled(file, fs.readFileSync(file, 'latin1')).runInThisContext() // the build leaves only ASCII in it
  body(shared, load, require, file)
  return shared
}

function compiled(file: string, code: string): InstanceType<typeof Script> {
  const cache = isCached ? cacheOf(file) : undefined
  const cachedData = cache && readCache(cache)
  const script = new Script(code, { filename: file, ...(cachedData && { cachedData }) })
  if (cache !== undefined && script.cachedDataRejected !== false) saveLater(script, cache)
  return script
}

/** The name contains everything that must be equal, because V8 only compares the lengths of two sources. */
function cacheOf(file: string): string {
  const { size, mtimeMs } = fs.statSync(file)
  const home = path.resolve(process.env['REELAY_HOME'] || path.join(userFolder(), '.reelay'))
  const name = [
    verb.replace(/^-+/, '') + (process.argv.length > PLAIN_WORDS ? '-options' : ''),
    path.basename(file, '.js'),
    size,
    Math.round(mtimeMs),
    process.version,
    process.arch,
  ]
  return path.join(home, 'code-cache', `${name.join('-')}.bin`)
}

/** Like `os.homedir()`, without loading another module. */
function userFolder(): string {
  return (
    (process.platform !== 'win32' && process.env['HOME']) || process.getBuiltinModule('node:os').homedir()
  )
}

/** Ignores a cache that another user could have written. The data is stored twice to detect damage, on which V8 would crash. */
function readCache(cache: string): Buffer | undefined {
  try {
    const { uid, mode } = fs.statSync(cache)
    if (process.getuid !== undefined && (uid !== process.getuid() || (mode & 0o022) !== 0)) return undefined
    const both = fs.readFileSync(cache)
    const [one, other] = [both.subarray(0, both.length >> 1), both.subarray(both.length >> 1)]
    return one.equals(other) ? one : undefined
  } catch {
    return undefined
  }
}

function saveLater(script: InstanceType<typeof Script>, cache: string): void {
  if (unsaved.size === 0) setTimeout(saveAll, SAVE_AFTER_MS).unref()
  unsaved.set(cache, script)
  // One listener for all files, because Node warns about many.
  if (!isExitWatched) process.once('exit', saveAll)
  isExitWatched = true
}

function saveAll(): void {
  for (const [cache, script] of unsaved) saveCache(script, cache)
  unsaved.clear()
}

function saveCache(script: InstanceType<typeof Script>, cache: string): void {
  const draft = `${cache}.${process.pid}`
  try {
    makeCacheFolder(path.dirname(cache))
    const data = script.createCachedData()
    fs.writeFileSync(draft, Buffer.concat([data, data]), { mode: 0o600, flag: 'wx' })
    fs.renameSync(draft, cache)
    removeOld(path.dirname(cache))
  } catch {
    // Without a cache, the next start is only as slow as this one.
  }
}

/** `recursive` is not used: under /proc, Node would retry forever. Without the folder above REELAY_HOME there is no cache. */
function makeCacheFolder(folder: string): void {
  for (const each of [path.dirname(folder), folder])
    if (!fs.existsSync(each)) fs.mkdirSync(each, { mode: 0o700 })
}

/** Removes old caches. A program that still exists makes its cache again. */
function removeOld(folder: string): void {
  for (const name of fs.readdirSync(folder)) {
    const file = path.join(folder, name)
    if (fs.statSync(file).mtimeMs < Date.now() - KEPT_MS) fs.rmSync(file)
  }
}
