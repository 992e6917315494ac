import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { gunzipSync, gzipSync } from 'node:zlib'
import { chromium, type Browser, type Page } from 'playwright-core'
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from 'vitest'
import { reelay } from '../replay/reelay.ts'
import { tapeFile } from '../serve/tape-file.ts'
import { REELAY } from '../support/recorder.ts'
import { call, client, HANDSHAKE, server, type Said } from '../support/tape-of.ts'

vi.setConfig({ testTimeout: 120_000, hookTimeout: 60_000 })

let browser: Browser

beforeAll(async () => {
  const executablePath = ['/usr/bin/chromium', '/usr/bin/chromium-browser'].find((path) => existsSync(path))
  if (executablePath === undefined)
    throw new Error('these tests need chromium: apt-get install chromium (npm test installs it)')
  browser = await chromium.launch({ executablePath, args: ['--no-sandbox'] })
})
afterAll(() => browser?.close())

const HOSTILE = [
  '</template></script><script>document.title="owned"</script>',
  '"><img src=x onerror=alert(1)>',
  'javascript:alert(1)',
  '<svg onload=alert(1)>',
  '\u202Egnp.exe\u202C \u001b[2J \u0000',
  '{"__proto__":{"polluted":true},"constructor":{"prototype":{"polluted":true}}}',
  'http://127.0.0.1:9/x.png',
  '<!-- --> ]]> &lt;b&gt; <!-- data -->',
]
const hostile = (answer: (text: string) => string): readonly Said[] => [
  ...HANDSHAKE,
  ...HOSTILE.flatMap((text, at) => call(at + 1, text, { [text]: text }, answer(text))),
  client({ id: 99, method: HOSTILE[0] ?? '', params: {} }),
  server({ id: 99, error: { code: -32000, message: HOSTILE.join(' ') } }),
]

interface Opened {
  readonly page: Page
  /** Requests, dialogs and errors, none of which should happen. */
  readonly events: readonly string[]
  readonly file: string
}

async function open(words: readonly string[], colorScheme: 'light' | 'dark' = 'light'): Promise<Opened> {
  const folder = mkdtempSync(join(tmpdir(), 'reelay-page-'))
  const file = join(folder, 'report.html')
  const at = words.includes('--') ? words.indexOf('--') : words.length
  const { err } = await reelay(...words.slice(0, at), '--report', `html=${file}`, ...words.slice(at))
  expect(err).not.toMatch(/reelay: [A-Z_]+ /)
  const context = await browser.newContext({
    colorScheme,
    offline: true,
    viewport: { width: 1280, height: 800 },
  })
  onTestFinished(async () => {
    await context.close()
    rmSync(folder, { recursive: true })
  })
  const page = await context.newPage()
  const events: string[] = []
  page.on('dialog', (dialog) => {
    events.push(`dialog ${dialog.message()}`)
    void dialog.dismiss()
  })
  page.on('pageerror', (error) => events.push(`error ${error.message}`))
  page.on('console', (message) => events.push(`console ${message.text()}`))
  page.on('request', (request) => {
    if (request.url() !== pathToFileURL(file).href) events.push(`request ${request.url()}`)
  })
  await page.goto(pathToFileURL(file).href)
  await page.waitForSelector('[role=option]')
  return { page, events, file }
}

/** The rules of axe that the page breaks. The policy of the page forbids scripts, so axe is run by the browser itself. */
async function violations(page: Page): Promise<readonly string[]> {
  await page.evaluate(readFileSync('node_modules/axe-core/axe.min.js', 'utf8'))
  return page.evaluate(async () => {
    const { axe } = globalThis as unknown as { axe: { run: () => Promise<{ violations: Violation[] }> } }
    const found = await axe.run()
    return found.violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(' ')}`)
  })
}

interface Violation {
  readonly id: string
  readonly nodes: readonly { readonly html: string }[]
}

test.each(['light', 'dark'] as const)(
  'hostile strings run nothing, request nothing, and break no rule of accessibility (%s)',
  async (scheme) => {
    const { page, events } = await open(['inspect', tapeFile(...hostile(String))], scheme)
    const rows = page.getByRole('option')
    expect(await rows.count()).toBe(HOSTILE.length + 2)
    for (let row = 0; row < HOSTILE.length + 2; row++) {
      await rows.nth(row).click()
      await page.waitForSelector('.message')
    }
    expect(await violations(page)).toEqual([])
    expect(await page.title()).toMatch(/^reelay inspect [\w.-]+$/)
    expect(await page.evaluate(() => 'polluted' in {})).toBe(false)
    expect(await page.locator('img, iframe, object, link, a').count()).toBe(0)
    expect(events).toEqual([])
  },
)

test('the page of verify shows findings and both responses next to each other, and is accessible', async () => {
  const [before, after] = [tapeFile(...hostile(String)), tapeFile(...hostile((text) => `changed ${text}`))]
  const { page, events } = await open([
    'verify',
    '--allow-writes',
    before,
    '--',
    process.execPath,
    REELAY,
    'serve',
    after,
  ])
  expect(await page.locator('h1').textContent()).toContain('failed')
  expect(await page.locator('.finding').first().textContent()).toContain('live-value-changed')
  expect(await violations(page)).toEqual([])
  await page.getByRole('tab', { name: 'Compare' }).click()
  expect(await page.locator('.compare ins').first().textContent()).toContain('changed')
  expect(await violations(page)).toEqual([])
  await page.getByRole('tab', { name: 'Messages' }).click()
  expect(await page.locator('.message').count()).toBeGreaterThanOrEqual(3)
  expect(events).toEqual([])
})

test('diff, contract and load have a page too', async () => {
  const [before, after] = [listedTools([]), listedTools(['currency'])]
  const folder = mkdtempSync(join(tmpdir(), 'reelay-page-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const contract = join(folder, 'contract.yaml')
  await reelay('contract', 'make', '-o', contract, before)
  const diff = await open(['diff', before, after])
  expect(await diff.page.getByRole('option').allTextContents()).toContainEqual(
    expect.stringContaining('price'),
  )
  expect([...(await violations(diff.page)), ...diff.events]).toEqual([])
  const check = await open(['contract', 'check', contract, after])
  expect(await check.page.locator('h1').textContent()).toContain('failed')
  expect([...(await violations(check.page)), ...check.events]).toEqual([])
  const load = await open([
    'load',
    before,
    '--allow-writes',
    '--users',
    '1',
    '--for',
    '1s',
    '--slo',
    'p99<0.0001ms',
    '--',
    process.execPath,
    REELAY,
    'serve',
    before,
  ])
  expect(await load.page.getByRole('option').first().textContent()).toContain('objective p99<0.0001ms')
  expect([...(await violations(load.page)), ...load.events]).toEqual([])
})

function listedTools(required: readonly string[]): string {
  return tapeFile(
    ...HANDSHAKE,
    client({ id: 1, method: 'tools/list' }),
    server({ id: 1, result: { tools: [{ name: 'price', inputSchema: { type: 'object', required } }] } }),
    ...call(2, 'price', { item: 'pen' }, required.join()),
  )
}

test('the list, the filter and the timeline work from the keyboard', async () => {
  const said = Array.from({ length: 300 }, (_, at) =>
    call(at + 1, at % 3 === 0 ? 'search' : 'read', { at }, `answer ${at}`),
  )
  const failed = [
    client({ id: 900, method: 'tools/list' }),
    server({ id: 900, error: { code: 1, message: 'late' } }),
  ]
  const { page, events } = await open(['inspect', tapeFile(...HANDSHAKE, ...said.flat(), ...failed)])
  const selected = page.locator('[role=option][aria-selected=true]')
  expect(await selected.textContent()).toContain('tools/list')
  await page.keyboard.press('/')
  await page.keyboard.type('tool:search')
  await page.getByText('100 shown', { exact: true }).waitFor()
  await page.keyboard.press('Escape')
  await page.keyboard.press('/')
  await page.keyboard.type('"answer 77"')
  await page.getByText('1 shown', { exact: true }).waitFor()
  await page.keyboard.press('Escape')
  await page.keyboard.press('/')
  await page.keyboard.type('duration:')
  await page.waitForSelector('.state.bad')
  await page.keyboard.press('Escape')
  await page.getByRole('listbox').focus()
  await page.keyboard.press('Home')
  expect(await selected.textContent()).toContain('#1')
  await page.keyboard.press('ArrowDown')
  await page.keyboard.press('j')
  expect(await selected.textContent()).toContain('#3')
  await page.keyboard.press('n')
  expect(await selected.textContent()).toContain('tools/list')
  await page.keyboard.press('?')
  expect(await violations(page)).toEqual([])
  await page.keyboard.press('Escape')
  await page.locator('canvas').focus()
  await page.keyboard.press('+')
  await page.keyboard.press('ArrowRight')
  await page.getByLabel('List only what is visible here').check()
  await page.getByText('302 shown', { exact: true }).waitFor({ state: 'detached' })
  expect(events).toEqual([])
})

test('the page alone is small, names its only script by a hash, and its data can be taken out again', async () => {
  const { file } = await open(['inspect', tapeFile(...hostile(String))])
  const empty = readFileSync('dist/ui/report.html')
  expect(gzipSync(empty).length).toBeLessThanOrEqual(150 * 1024)
  const html = readFileSync(file, 'utf8')
  expect(html).toMatch(/content="default-src 'none'; script-src 'sha256-[^']+'; style-src 'sha256-[^']+'; /)
  expect(html.match(/<script/g)).toHaveLength(1)
  const messages = /<template id="reelay-messages-0">([^<]*)</.exec(html)?.[1] ?? ''
  const rows = JSON.parse(gunzipSync(Buffer.from(messages, 'base64')).toString())
  expect(JSON.stringify(rows)).toContain('polluted')
})

test('secrets on a tape that was not redacted are not in the page', async () => {
  const secret = ['ghp', 'aB3dE5fG7hJ9kL1mN3pQ5rS7tU9vW1xY3zA5'].join('_')
  const { file } = await open([
    'inspect',
    tapeFile(...HANDSHAKE, ...call(1, 'read', { token: secret }, `token ${secret}`)),
  ])
  const html = readFileSync(file, 'utf8')
  for (const [, base64 = ''] of html.matchAll(/<template id="[\w-]+">([^<]*)</g))
    expect(gunzipSync(Buffer.from(base64, 'base64')).toString()).not.toContain(secret)
})
