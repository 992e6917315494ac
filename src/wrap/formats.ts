import type { ConfigFormatName } from './client.ts'
import type { ConfigFormat } from './config-format.ts'
import { jsonConfigFormat } from './json-config.ts'
import { tomlConfigFormat } from './toml-config.ts'

/** The languages that configs are written in. */
export const CONFIG_FORMATS: Readonly<Record<ConfigFormatName, ConfigFormat>> = {
  json: jsonConfigFormat,
  toml: tomlConfigFormat,
}
