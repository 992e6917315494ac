import { dirname, resolve } from 'node:path'
import { projectConfig } from '../config/project-config.ts'
import type { Setting } from '../config/setting.ts'
import { ReelayError } from '../errors.ts'
import { isPath } from '../store/home.ts'
import type { Listen } from '../transport/listen.ts'
import { readListen } from './listen-address.ts'
import type { ServeFlags } from './serve-tapes.ts'
import type { WantedTape } from './wanted-tapes.ts'

/** The tapes that the project's config lists, for a `reelay serve` that names none. */
export function manifestTapes(flags: ServeFlags, folder: string): readonly WantedTape[] {
  const config = projectConfig(folder)
  const section = config?.section('serve')
  if (config === undefined || section === undefined)
    throw new ReelayError('USAGE', 'no tape is named, and no config of the project lists any', {
      hint: 'reelay serve <tape>, or a section "serve" in reelay.config.yaml: docs/config.md',
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
export function readServeSection(section: Setting, folder: string): readonly WantedTape[] {
  const { tapes } = section.members(['tapes'])
  const entries = tapes?.items() ?? []
  if (entries.length === 0) throw section.broken('lists no "tapes"')
  return entries.map((entry) => tapeIn(entry, folder))
}

/** A text alone is a tape on a free port. */
function tapeIn(entry: Setting, folder: string): WantedTape {
  if (typeof entry.value === 'string') return { name: nameIn(entry, folder), http: {} }
  const { tape, server, http, sse } = entry.members(['tape', 'server', 'http', 'sse'])
  if (tape === undefined) throw entry.broken('needs "tape"')
  return {
    name: nameIn(tape, folder),
    ...(server && { server: server.text() }),
    ...((http ?? !sse) && { http: http ? placeIn(http) : {} }),
    ...(sse && { sse: placeIn(sse) }),
  }
}

function nameIn(setting: Setting, folder: string): string {
  const text = setting.text()
  return isPath(text) ? resolve(folder, text) : text
}

function placeIn(setting: Setting): Partial<Listen> {
  if (setting.value === true) return {}
  return setting.as(({ value }) => readListen(String(value), 'the address'))
}
