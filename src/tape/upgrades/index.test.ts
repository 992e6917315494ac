import { expect, test } from 'vitest'
import { decodeHeader, TAPE_VERSION } from '../header.ts'
import { upgradeLine, upgrades, type Upgrade } from './index.ts'

const renamed = (from: number, before: string, after: string): Upgrade => ({
  from,
  line: (line, number) =>
    (number === 1 ? line.replace(`"reelay":${from}`, `"reelay":${from + 1}`) : line).replace(before, after),
})

const chain = [renamed(1, '"who"', '"server"'), renamed(2, '"up"', '"c2s"')]

test('a line of an old tape passes through every later upgrade, in order', () => {
  expect(upgradeLine('{"reelay":1}', 1, 1, chain)).toBe('{"reelay":3}')
  expect(upgradeLine('{"n":1,"who":"a","dir":"up"}', 2, 1, chain)).toBe('{"n":1,"server":"a","dir":"c2s"}')
})

test('a line of a newer tape passes only through later upgrades', () => {
  expect(upgradeLine('{"n":1,"who":"a","dir":"up"}', 2, 2, chain)).toBe('{"n":1,"who":"a","dir":"c2s"}')
  expect(upgradeLine('{"n":1,"who":"a","dir":"up"}', 2, 3, chain)).toBe('{"n":1,"who":"a","dir":"up"}')
})

test('a line of the current version stays unchanged', () => {
  expect(upgradeLine('{"any":  "line"}', 2, TAPE_VERSION)).toBe('{"any":  "line"}')
})

test('there is an upgrade from every older version, in order', () => {
  expect(upgrades.map(({ from }) => from)).toEqual(
    Array.from({ length: TAPE_VERSION - 1 }, (_, index) => index + 1),
  )
})

test('an upgraded header is a header of the current version', () => {
  const old = '{"reelay":0,"id":"a","started":"2026-11-15T07:20:59Z","by":"x","hosts":{}}'
  expect(decodeHeader(upgradeLine(old, 1, 0, [renamed(0, '"hosts"', '"servers"')])).servers).toEqual({})
})
