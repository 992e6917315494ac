// The main script of the single-file binary. It unpacks the program once for each version, into the user's own folder, and runs it
// from there, so that everything works as it does in an installed package.
const { createRequire } = require('node:module')
const fs = require('node:fs')
const os = require('node:os')
const path = require('node:path')
const sea = require('node:sea')
const { gunzipSync } = require('node:zlib')

process.argv[1] = process.execPath // Node puts the word there with which the binary was started
createRequire(path.join(unpackedProgram(), 'dist', 'cli', 'main.js'))('./main.js')

function unpackedProgram() {
  const home = path.resolve(process.env.REELAY_HOME || path.join(os.homedir(), '.reelay'))
  const folder = path.join(home, 'program', sea.getAsset('name', 'utf8'))
  try {
    if (isOwn(folder)) return folder
    for (const each of [home, path.dirname(folder)])
      if (!fs.existsSync(each)) fs.mkdirSync(each, { mode: 0o700 })
    const draft = fs.mkdtempSync(`${folder}-`)
    unpackInto(draft)
    return publish(draft, folder)
  } catch {
    return unpackForThisRun()
  }
}

/** A folder that another user could have written is not used. */
function isOwn(folder) {
  const stat = fs.statSync(folder, { throwIfNoEntry: false })
  if (stat === undefined || process.getuid === undefined) return stat !== undefined
  return stat.uid === process.getuid() && (stat.mode & 0o022) === 0
}

/** Two starts at the same time may both unpack. The first to finish wins. */
function publish(draft, folder) {
  try {
    fs.renameSync(draft, folder)
    return folder
  } catch {
    if (!isOwn(folder)) return draft
    fs.rmSync(draft, { recursive: true })
    return folder
  }
}

function unpackForThisRun() {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'reelay-program-'))
  process.once('exit', () => fs.rmSync(folder, { recursive: true, force: true }))
  unpackInto(folder)
  return folder
}

/** The payload is a JSON list of paths and lengths, preceded by its own length, and then the files. */
function unpackInto(folder) {
  const payload = gunzipSync(Buffer.from(sea.getRawAsset('payload')))
  const listEnd = 4 + payload.readUInt32LE(0)
  let at = listEnd
  for (const [file, length] of JSON.parse(payload.toString('utf8', 4, listEnd))) {
    const target = path.join(folder, file)
    fs.mkdirSync(path.dirname(target), { recursive: true, mode: 0o700 })
    fs.writeFileSync(target, payload.subarray(at, at + length))
    at += length
  }
}
