import { dirname, resolve } from 'node:path'
import type { Setting } from '../../config/setting.ts'
import type { ListenAddress } from '../../http/server/listen.ts'
import { isTapePath } from '../../store/home.ts'
import { readConfig } from '../options/config-options.ts'
import { longFlag, usageError, type GivenOptions } from '../options/option.ts'
import { listenValue, parseListenAddress } from '../options/option-types.ts'
import { SERVE_OPTIONS, type ServeFlags } from '../options/serve-options.ts'
import type { RequestedTape } from './tapes-to-serve.ts'

/** The tapes that the project config lists, for a `reelay serve` that names none. */
export function configTapes(flags: ServeFlags, given: GivenOptions): readonly RequestedTape[] {
  const config = readConfig(flags)
  const section = config?.section('serve')
  if (config === undefined || section === undefined)
    throw usageError(
      'no tape is given, and the project config lists none',
      'run reelay serve <tape>, or add a section "serve" to reelay.config.yaml: docs/reference/config.md',
    )
  const odd = NAMED_TAPE_OPTIONS.find((name) => given[name] !== undefined)
  if (odd !== undefined)
    throw usageError(
      `${longFlag(SERVE_OPTIONS[odd].flag ?? odd)} needs a tape on the command line`,
      `${config.file} says how the tapes of the project are served`,
    )
  return readServeSection(section, dirname(config.file))
}

const NAMED_TAPE_OPTIONS = ['http', 'sse', 'stdio', 'server', 'mode', 'onMiss', 'header'] as const

/** Reads the section `serve`; paths in it start at the folder of the config. */
export function readServeSection(section: Setting, folder: string): readonly RequestedTape[] {
  const { tapes } = section.members(['tapes'])
  const entries = tapes?.items() ?? []
  if (entries.length === 0) throw section.invalid('lists no "tapes"')
  return entries.map((entry) => readTapeEntry(entry, folder))
}

/** A text alone is a tape on a free port. */
function readTapeEntry(entry: Setting, folder: string): RequestedTape {
  if (typeof entry.value === 'string') return { name: readTapePath(entry, folder), http: {} }
  const { tape, server, http, sse } = entry.members(['tape', 'server', 'http', 'sse'])
  if (tape === undefined) throw entry.invalid('needs "tape"')
  return {
    name: readTapePath(tape, folder),
    ...(server && { server: server.text() }),
    ...((http ?? !sse) && { http: http ? readAddress(http) : {} }),
    ...(sse && { sse: readAddress(sse) }),
  }
}

function readTapePath(setting: Setting, folder: string): string {
  const text = setting.text()
  return isTapePath(text) ? resolve(folder, text) : text
}

function readAddress(setting: Setting): Partial<ListenAddress> {
  if (setting.value === true) return {}
  const address = parseListenAddress(String(setting.value))
  if (address === undefined) throw setting.invalid(`is not an address (expected ${listenValue.expected})`)
  return address
}
