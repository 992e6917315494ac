// Becomes dist/cli/main.js. A client waits until the recorder, or the served tape, has started, and much of that time is
// spent on compiling, so this file uses V8's code cache of an earlier start if there is one. Everything works without it.
const fs = process.getBuiltinModule('node:fs')
const path = process.getBuiltinModule('node:path')
const { Script } = process.getBuiltinModule('node:vm')

type Load = (name: string) => unknown
type Body = (into: unknown, load: Load, own: NodeJS.Module, file: string, folder: string) => void

const PROGRAM = 'reelay.js'
/** The commands that a client or a person waits for. Each has its own caches, because they compile different code. */
const WAITED_FOR = ['record', 'serve', '--help']
/** The delay lets the first messages pass. It is short, because V8 discards code that has not run for a while. */
const SAVE_AFTER_MS = 1000
const KEPT_MS = 60 * 24 * 60 * 60 * 1000

/** Scripts that were compiled in this run, by the path of their cache. */
const unsaved = new Map<string, InstanceType<typeof Script>>()
let isExitWatched = false

const verb = process.argv[2] ?? ''
const isCached = WAITED_FOR.includes(verb) && isPlainNode()
run(PROGRAM, module)

/** Options of Node may change what V8 compiles, and caches of different options would replace each other. */
function isPlainNode(): boolean {
  const { NODE_OPTIONS = '', NODE_DISABLE_COMPILE_CACHE = '' } = process.env
  return process.execArgv.length === 0 && NODE_OPTIONS === '' && NODE_DISABLE_COMPILE_CACHE === ''
}

function run(name: string, own: NodeJS.Module): void {
  const file = path.join(__dirname, name)
  const script = compiled(file, fs.readFileSync(file, 'latin1')) // the build leaves only ASCII in it
  const body: Body = script.runInThisContext()
  body(own.exports, load, own, file, __dirname)
}

function compiled(file: string, code: string): InstanceType<typeof Script> {
  // The build has already wrapped the program, because copying such a long string here would cause garbage collection.
  const isWrapped = path.basename(file) === PROGRAM
  const wrapped = isWrapped
    ? code
    : `(function (exports, require, module, __filename, __dirname) { ${code}\n})`
  const cache = isCached ? cacheOf(file) : undefined
  const cachedData = cache && readCache(cache)
  const script = new Script(wrapped, { filename: file, ...(cachedData && { cachedData }) })
  if (cache !== undefined && script.cachedDataRejected !== false) saveLater(script, cache)
  return script
}

/** Replaces `require` in the program. Most parts are already in memory, and others may be in the cache. */
function load(name: string): unknown {
  if (!isCached || !name.startsWith('./')) return require(name)
  const file = path.basename(name)
  if (file === 'main.js') return module.exports
  const { folded } = module.exports as { readonly folded: Readonly<Record<string, unknown>> }
  return Object.hasOwn(folded, file) ? folded[file] : loadOnce(file)
}

function loadOnce(name: string): unknown {
  const file = path.join(__dirname, name)
  const known = require.cache[file]
  if (known !== undefined) return known.exports
  const own = new (module.constructor as new (id: string, parent: NodeJS.Module) => NodeJS.Module)(
    file,
    module,
  )
  require.cache[file] = own // before it runs, because modules may require each other
  run(name, own)
  own.loaded = true
  return own.exports
}

/** The name contains everything that must be equal, because V8 only compares the lengths of two sources. */
function cacheOf(file: string): string {
  const { size, mtimeMs } = fs.statSync(file)
  const home = path.resolve(process.env['REELAY_HOME'] || path.join(userFolder(), '.reelay'))
  const name = [
    verb.replace(/^-+/, ''),
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
