import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { ConfigFormat, EntryLink } from '../../src/wrap/configs/config-format.ts'
import { CONFIG_FORMATS } from '../../src/wrap/configs/formats/index.ts'
import { deskIn, RECORDER, type Desk } from './desk.ts'
import { oddJson, oddToml, type OddConfig } from './odd-configs.ts'
import { cases } from '../support/cases.ts'

const LANGUAGES = [
  {
    language: 'JSON',
    format: CONFIG_FORMATS.json,
    root: 'mcpServers',
    configs: oddJson,
    file: 'home/.cursor/mcp.json',
  },
  {
    language: 'TOML',
    format: CONFIG_FORMATS.toml,
    root: 'mcp_servers',
    configs: oddToml,
    file: 'home/.codex/config.toml',
  },
]
const RUNS = cases(20)
const LONE_LINE_FEED = /(?<!\r)\n/

let folder: string
let desk: Desk
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'reelay-wrap-'))
  desk = deskIn(folder)
})
afterEach(() => rmSync(folder, { recursive: true }))

describe.each(LANGUAGES)('$language', ({ format, root, configs, file }) => {
  const someServer = configs.chain((config) =>
    fc.tuple(fc.constant(config), fc.nat(config.servers.length - 1)),
  )

  test('wrap and then unwrap leaves every byte as it was', () => {
    fc.assert(
      fc.property(configs, ({ text }) => {
        desk.write(file, text)
        desk.wrap('all')
        expect(desk.read(file)).not.toBe(text)
        expect(desk.unwrap('all').outcomes).toSatisfy(areExact)
        expect(desk.read(file)).toBe(text)
      }),
      RUNS,
    )
  })

  test('a wrapped server is started with its old words, behind the recorder', () => {
    fc.assert(
      fc.property(configs, ({ text, servers }) => {
        desk.write(file, text)
        desk.wrap('all')
        const words = wordsIn(format, desk.read(file), root)
        for (const { name, words: old } of servers) {
          const [node, program, ...rest] = words.get(name) ?? []
          expect({ node, program }).toEqual(RECORDER)
          expect(rest.slice(0, 4)).toEqual(['record', '--numbered', '--server', name])
          expect(rest.slice(6)).toEqual(old)
        }
      }),
      RUNS,
    )
  })

  test('wrapping twice is wrapping once', () => {
    fc.assert(
      fc.property(configs, ({ text }) => {
        desk.write(file, text)
        desk.wrap('all')
        const once = desk.read(file)
        expect(desk.wrap('all').outcomes.map(({ kind }) => kind)).toSatisfy(isAll('already-wrapped'))
        expect(desk.read(file)).toBe(once)
      }),
      RUNS,
    )
  })

  test('wrapping one server touches no byte of another', () => {
    fc.assert(
      fc.property(someServer, ([{ text, servers }, chosen]) => {
        desk.write(file, text)
        const { name = '', start = 0, end = 0 } = servers[chosen] ?? {}
        desk.wrap([name])
        const wrapped = desk.read(file)
        expect(wrapped.startsWith(text.slice(0, start))).toBe(true)
        expect(wrapped.endsWith(text.slice(end))).toBe(true)
        expect(LONE_LINE_FEED.test(wrapped)).toBe(LONE_LINE_FEED.test(text))
      }),
      RUNS,
    )
  })

  test('a server that the user adds in between stays, and the wrapped one comes back byte for byte', () => {
    fc.assert(
      fc.property(someServer, ([config, chosen]) => {
        desk.write(file, config.text)
        const name = config.servers[chosen]?.name ?? ''
        desk.wrap([name])
        desk.write(file, withFurther(config, desk.read(file)))
        expect(desk.unwrap([name]).outcomes).toSatisfy(areExact)
        expect(desk.read(file)).toBe(withFurther(config, config.text))
      }),
      RUNS,
    )
  })

  test('without what Reelay remembers, unwrapping restores what the entries mean', () => {
    fc.assert(
      fc.property(configs, ({ text, servers }) => {
        desk.write(file, text)
        desk.wrap('all')
        rmSync(join(folder, 'reelay', 'wrapped.json'))
        expect(desk.unwrap('all').outcomes.map(({ kind }) => kind)).toSatisfy(isAll('unwrapped'))
        const words = wordsIn(format, desk.read(file), root)
        expect(servers.map(({ name }) => words.get(name))).toEqual(servers.map((server) => server.words))
      }),
      RUNS,
    )
  })
})

function withFurther({ roomAt, further }: OddConfig, text: string): string {
  return text.slice(0, roomAt) + further + text.slice(roomAt)
}

function areExact(outcomes: readonly { kind: string; exact?: boolean }[]): boolean {
  return outcomes.length > 0 && outcomes.every(({ kind, exact }) => kind === 'unwrapped' && exact)
}

const isAll =
  (wanted: string) =>
  (kinds: readonly string[]): boolean =>
    kinds.length > 0 && kinds.every((kind) => kind === wanted)

function wordsIn(format: ConfigFormat, text: string, root: string): ReadonlyMap<string, readonly unknown[]> {
  const entries = format.readEntries(text.replace(/^\uFEFF/, ''), [root])
  return new Map(entries.map(({ server, link }) => [server, wordsOf(link)]))
}

function wordsOf(link: EntryLink): readonly unknown[] {
  if (link.kind !== 'command') return []
  return [link.command, ...(link.args?.items ?? [])].map(({ value }) => value)
}
