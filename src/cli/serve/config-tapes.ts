import { dirname, resolve } from 'node:path'
import { findProjectConfig } from '../../config/project-config.ts'
import type { Setting } from '../../config/setting.ts'
import { ReelayError } from '../../errors.ts'
import { isTapePath } from '../../store/home.ts'
import type { ListenAddress } from '../../http/server/listen.ts'
import { readListenAddress } from '../options/value-readers.ts'
import type { ServeFlags } from './serve-tapes.ts'
import type { RequestedTape } from './tapes-to-serve.ts'

/** The tapes that the project's config lists, for a `reelay serve` that names none. */
export function configTapes(flags: ServeFlags, folder: string): readonly RequestedTape[] {
  const config = findProjectConfig(folder)
  const section = config?.section('serve')
  if (config === undefined || section === undefined)
    throw new ReelayError('USAGE', 'no tape is named, and no config of the project lists any', {
      hint: 'reelay serve <tape>, or a section "serve" in reelay.config.yaml: docs/reference/config.md',
    })
  const odd = (['http', 'sse', 'stdio', 'server', 'mode', 'onMiss', 'header'] as const).find(
    (name) => flags[name] !== undefined,
  )
  if (odd !== undefined)
    throw new ReelayError('USAGE', `--${odd === 'onMiss' ? 'on-miss' : odd} goes with a tape that is named`, {
      hint: `where the tapes of the project are served stands in ${config.file}`,
    })
  return readServeSection(section, dirname(config.file))
}

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
  return setting.as(({ value }) => readListenAddress(String(value), 'the address'))
}
