// Becomes dist/cli/main.js. A client waits until the recorder, or the served tape, has started, and much of that time is
// spent on compiling: so V8's code cache of an earlier start is used where there is one. It is only ever a shortcut.
const fs = process.getBuiltinModule('node:fs')
const os = process.getBuiltinModule('node:os')
const path = process.getBuiltinModule('node:path')
const { Script } = process.getBuiltinModule('node:vm')

type Body = (
  into: typeof exports,
  load: (name: string) => unknown,
  own: NodeJS.Module,
  file: string,
  folder: string,
) => void

const PROGRAM = 'reelay.js'
/** The files that are worth it, by command; what each run compiles of them differs, so each has a cache of its own. */
const CACHED: Readonly<Record<string, readonly string[]>> = {
  record: [PROGRAM],
  serve: [PROGRAM, 'serve.js'],
}
/** Soon, because V8 forgets code that has not run for a while, and not at once, because the first messages come first. */
const SAVE_AFTER_MS = 1000

const verb = process.argv[2] ?? ''
run(PROGRAM, module)

function run(name: string, own: NodeJS.Module): void {
  const file = path.join(__dirname, name)
  const code = fs.readFileSync(file, 'latin1') // the build leaves only ASCII in it
  const cache = isCached(name) ? cacheOf(file) : undefined
  const cachedData = cache && readCache(cache)
  // The build has wrapped the program already: every copy of it would bring V8's next collection of garbage nearer.
  const wrapped =
    name === PROGRAM ? code : `(function (exports, require, module, __filename, __dirname) { ${code}\n})`
  const script = new Script(wrapped, {
    filename: file,
    ...(cachedData && { cachedData }),
  })
  if (cache !== undefined && script.cachedDataRejected !== false) saveLater(script, cache)
  const body: Body = script.runInThisContext()
  body(own.exports, load, own, file, __dirname)
}

function load(name: string): unknown {
  const file = path.basename(name)
  if (file === PROGRAM || !isCached(file)) return require(name)
  const own = { exports: {} } as NodeJS.Module
  run(file, own)
  return own.exports
}

/** Options of Node may change what V8 makes of a file: a cache for each would only replace the other. */
function isCached(name: string): boolean {
  const { NODE_OPTIONS = '', NODE_DISABLE_COMPILE_CACHE = '' } = process.env
  const isPlain = process.execArgv.length === 0 && NODE_OPTIONS === '' && NODE_DISABLE_COMPILE_CACHE === ''
  return isPlain && CACHED[verb]?.includes(name) === true
}

/** Named by everything that must be the same: V8 itself tells two sources apart by their lengths only. */
function cacheOf(file: string): string {
  const { size, mtimeMs } = fs.statSync(file)
  const home = path.resolve(process.env['REELAY_HOME'] || path.join(os.homedir(), '.reelay'))
  const name = [
    verb,
    path.basename(file, '.js'),
    size,
    Math.round(mtimeMs),
    process.version,
    process.arch,
  ].join('-')
  return path.join(home, 'code-cache', `${name}.bin`)
}

/** What somebody else could have written is not run; nor is what a disk has damaged, on which V8 would crash: so it stands there twice. */
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
  let isSaved = false
  const save = (): void => {
    if (!isSaved) saveCache(script, cache)
    isSaved = true
  }
  setTimeout(save, SAVE_AFTER_MS).unref()
  process.once('exit', save)
}

function saveCache(script: InstanceType<typeof Script>, cache: string): void {
  const draft = `${cache}.${process.pid}`
  try {
    fs.mkdirSync(path.dirname(cache), { recursive: true, mode: 0o700 })
    const data = script.createCachedData()
    fs.writeFileSync(draft, Buffer.concat([data, data]), { mode: 0o600, flag: 'wx' })
    fs.renameSync(draft, cache)
  } catch {
    // The next start is as slow as this one was, and that is all.
  }
}
