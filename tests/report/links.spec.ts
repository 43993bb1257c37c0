/** Every link between pages of the documentation leads to an existing file, and to an existing heading if it names one. */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'

const root = join(import.meta.dirname, '../..')
const inDocs = readdirSync(join(root, 'docs'), { recursive: true, encoding: 'utf8' })
const pages = ['README.md', 'SECURITY.md', ...inDocs.map((file) => join('docs', file))].filter((file) =>
  file.endsWith('.md'),
)
const textOf = (page: string) => readFileSync(join(root, page), 'utf8')

test.each(pages)('%s has no link that leads nowhere', (page) => {
  const links = [...textOf(page).matchAll(/\]\(([^)\s]+)\)/g)].map(([, link = '']) => link)
  const own = links.filter((link) => !/^[a-z]+:/.test(link))
  expect(own.filter((link) => !leadsSomewhere(page, link))).toEqual([])
})

function leadsSomewhere(page: string, link: string): boolean {
  const [file = '', anchor] = link.split('#')
  const target = file === '' ? page : join(dirname(page), file)
  if (!existsSync(join(root, target))) return false
  return anchor === undefined || anchorsOf(textOf(target)).includes(anchor)
}

/** As GitHub names headings in addresses. */
function anchorsOf(text: string): readonly string[] {
  return [...text.matchAll(/^#+ (.*)$/gm)].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}_\- ]/gu, '')
      .replaceAll(' ', '-'),
  )
}
