import { createHash, randomBytes } from 'node:crypto'
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { ReelayError } from '../errors.ts'
import { isObject, parseJson } from '../json/parse.ts'
import { homeFolder } from '../store/home.ts'

/** Where a running recorder or debugger listens for commands. The file that says so is readable only by its user. */
export interface ControlAddress {
  readonly version: number
  readonly pid: number
  readonly tape: string
  /** The path of a Unix socket, or the name of a Windows pipe. */
  readonly socket: string
  readonly token: string
  /** The origin of the HTTP endpoint, if there is one. */
  readonly http?: string
}

/** Chooses a new address for a tape. An earlier one, of a process that was killed, is replaced. */
export function newControlAddress(tape: string): ControlAddress {
  const folder = controlFolder()
  const token = randomBytes(24).toString('base64url')
  return {
    version: CONTROL_VERSION,
    pid: process.pid,
    tape: resolve(tape),
    socket: socketPath(folder, tape),
    token,
  }
}

export const CONTROL_VERSION = 1

/** Publishes an address, so that commands on the same machine find it by the tape. Returns the path of the file. */
export function writeControlAddress(address: ControlAddress): string {
  const path = addressFile(address.tape)
  rmSync(path, { force: true })
  writeFileSync(path, JSON.stringify(address), { mode: 0o600, flag: 'wx' })
  return path
}

export function removeControlAddress({ tape, socket, token }: ControlAddress): void {
  if (process.platform !== 'win32') rmSync(socket, { force: true })
  if (dirname(socket) !== controlFolder() && process.platform !== 'win32')
    rmSync(dirname(socket), { force: true, recursive: true })
  if (readAddress(tape)?.token === token) rmSync(addressFile(tape), { force: true })
}

/** Finds the recorder or debugger of a tape. Throws if there is none. */
export function findControlAddress(tape: string): ControlAddress {
  const address = readAddress(tape)
  if (address !== undefined) return address
  throw new ReelayError('CONTROL_NOT_FOUND', `nothing that can be controlled is writing ${tape}`, {
    hint: 'start it with reelay record --intercept <filter>, on this machine and with the same REELAY_HOME',
  })
}

function readAddress(tape: string): ControlAddress | undefined {
  try {
    return checkedAddress(parseJson(readFileSync(addressFile(tape), 'utf8')))
  } catch {
    return undefined // there is no such file
  }
}

function checkedAddress(value: unknown): ControlAddress | undefined {
  if (!isObject(value)) return undefined
  const { version, pid, tape, socket, token, http } = value
  if (typeof version !== 'number' || typeof pid !== 'number' || typeof tape !== 'string') return undefined
  if (typeof socket !== 'string' || typeof token !== 'string') return undefined
  return { version, pid, tape, socket, token, ...(typeof http === 'string' && { http }) }
}

function addressFile(tape: string): string {
  return join(controlFolder(), `${nameOf(tape)}.json`)
}

function nameOf(tape: string): string {
  return createHash('sha256').update(resolve(tape)).digest('hex').slice(0, 16)
}

function controlFolder(): string {
  const folder = join(homeFolder(), 'control')
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  if (process.platform !== 'win32') chmodSync(folder, 0o700)
  return folder
}

/** The longest path that every system accepts for a Unix socket. */
const MAX_SOCKET_PATH = 100

function socketPath(folder: string, tape: string): string {
  if (process.platform === 'win32')
    return `\\\\.\\pipe\\reelay-${nameOf(tape)}-${randomBytes(8).toString('hex')}`
  const path = join(folder, `${nameOf(tape)}.sock`)
  if (Buffer.byteLength(path) <= MAX_SOCKET_PATH) {
    rmSync(path, { force: true })
    return path
  }
  return join(mkdtempSync(join(tmpdir(), 'reelay-')), 's.sock') // a new folder has mode 0700
}
