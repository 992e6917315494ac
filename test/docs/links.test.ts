import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'

const PAGES = ['README.md', 'CONTRIBUTING.md', 'CHANGELOG.md', ...pagesIn('docs')]

test.each(PAGES)('every link inside the project that %s gives leads somewhere', (page) => {
  const links = [...readFileSync(page, 'utf8').matchAll(/\]\((?!\w+:)([^)#\s]*)(#[^)\s]*)?\)/g)]
  const broken = links.filter(([, path = '', anchor]) => !leadsSomewhere(page, path, anchor))
  expect(broken.map(([link]) => link)).toEqual([])
})

function pagesIn(folder: string): readonly string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.md'))
    .map((name) => join(folder, name))
}

function leadsSomewhere(page: string, path: string, anchor: string | undefined): boolean {
  const target = path === '' ? page : join(dirname(page), path)
  if (!existsSync(target)) return false
  return anchor === undefined || headingsOf(target).includes(anchor.slice(1))
}

function headingsOf(page: string): readonly string[] {
  const titles = readFileSync(page, 'utf8').matchAll(/^#+ (.*)$/gm)
  return [...titles].map(([, title = '']) =>
    title
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
      .replaceAll(' ', '-'),
  )
}
