import type { FormatName } from './client.ts'
import type { ConfigFormat } from './config-format.ts'
import { jsonFormat } from './json-config.ts'
import { tomlFormat } from './toml-config.ts'

/** The languages that configs are written in. */
export const FORMATS: Readonly<Record<FormatName, ConfigFormat>> = { json: jsonFormat, toml: tomlFormat }
