import type { ConfigFormatName } from '../../clients/client.ts'
import type { ConfigFormat } from '../config-format.ts'
import { jsonConfigFormat } from './json.ts'
import { tomlConfigFormat } from './toml.ts'

/** The languages of config files. */
export const CONFIG_FORMATS: Readonly<Record<ConfigFormatName, ConfigFormat>> = {
  json: jsonConfigFormat,
  toml: tomlConfigFormat,
}
