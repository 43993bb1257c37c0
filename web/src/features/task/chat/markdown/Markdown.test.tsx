// @vitest-environment jsdom
import { cleanup, fireEvent, render, screen } from '@testing-library/react'
import type { ReactNode } from 'react'
import { renderToStaticMarkup } from 'react-dom/server'
import { Provider } from 'react-redux'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { clientStore } from '../../../../../../tests/client/page.tsx'
import type Reader from 'react-markdown'
import { isTooMuch, Markdown } from './Markdown.tsx'
import { beginning } from '../entries/MessageBody.tsx'

const read = vi.hoisted(() => vi.fn<(text: unknown) => void>())
vi.mock('react-markdown', async (original) => {
  const { default: reader } = await original<{ readonly default: typeof Reader }>()
  const Read: typeof Reader = (props) => {
    read(props.children)
    return reader(props)
  }
  return { default: Read }
})
afterEach(() => {
  cleanup()
  read.mockReset()
})
const store = clientStore()
const drawn = (text: string, growing = false) => (
  <Provider store={store}>
    <Markdown text={text} growing={growing} />
  </Provider>
)
const shown = (text: string) => render(drawn(text)).container

describe('Markdown of an agent', () => {
  test.each([
    '<script>alert(1)</script>',
    '<img src=x onerror=alert(1)>',
    '<iframe src="https://evil.example"></iframe>',
    '![tracking](https://evil.example/pixel.png)',
    '[click](javascript:alert(1))',
    '[click](JaVaScRiPt:alert(1))',
    '[click](data:text/html,<script>alert(1)</script>)',
    '[click](vbscript:msgbox)',
    '<a href="javascript:alert(1)" onclick="alert(1)">click</a>',
    '```html\n<img src=x onerror=alert(1)>\n```',
    '| a |\n|---|\n| <svg onload=alert(1)> |',
    '![x](javascript:alert(1))',
    '![x](data:image/svg+xml;base64,PHN2ZyBvbmxvYWQ9YWxlcnQoMSk+)',
    '[![pixel](https://evil.example/a.gif)](https://evil.example/)',
    '![ref][p]\n\n[p]: https://evil.example/pixel.png',
    '[ref][j]\n\n[j]: javascript:alert(1)',
    '<javascript:alert(1)>',
    '<https://evil.example/"onmouseover="alert(1)>',
    '[a](https://evil.example/"onmouseover="alert(1))',
    '[a]( &#106;avascript:alert(1))',
    '[a](java\nscript:alert(1))',
    '[a](\u0001javascript:alert(1))',
    '[a](file:///etc/passwd)',
    '[a](//evil.example/x)',
    '[a](/settings)',
    'https://evil.example/<img src=x onerror=alert(1)>',
    '<style>*{background:url(https://evil.example/a)}</style>',
    '<link rel=stylesheet href=https://evil.example/a.css>',
    '<base href=https://evil.example/>',
    '<meta http-equiv=refresh content="0;url=https://evil.example/">',
    '<math><mi xlink:href="javascript:alert(1)">x</mi></math>',
    '<form action=https://evil.example/><button>Send</button></form>',
    '<video src=https://evil.example/a.mp4 autoplay></video>',
    '`</code><img src=x onerror=alert(1)>`',
    'text [^1]\n\n[^1]: <img src=x onerror=alert(1)>',
    '- [ ] <img src=x onerror=alert(1)>',
    '~~<script>alert(1)</script>~~',
    '<!--><img src=x onerror=alert(1)>-->',
  ])('does nothing and fetches nothing: %s', (text) => {
    const page = shown(text)
    // The only picture on the page is the icon of the button that copies code.
    const active =
      'script, img, iframe, svg:not(button svg), object, embed, form, style, link, base, meta, video, math'
    expect(page.querySelector(active)).toBeNull()
    expect(page.querySelector('a a')).toBeNull()
    for (const link of page.querySelectorAll('a')) {
      expect(link.protocol).toMatch(/^https?:$/)
      expect(link.target).toBe('_blank')
      expect(link.rel).toBe('noreferrer noopener nofollow')
    }
    for (const box of page.querySelectorAll('input')) expect(box.disabled).toBe(true)
    for (const element of page.querySelectorAll('*')) {
      expect([...element.attributes].filter(({ name }) => name.startsWith('on'))).toEqual([])
    }
  })

  test('opens links elsewhere, and tells them nothing', () => {
    const link = shown('[docs](https://docs.example/a)').querySelector('a')
    expect(link?.href).toBe('https://docs.example/a')
    expect(link?.target).toBe('_blank')
    expect(link?.rel).toContain('noreferrer')
  })

  // Holds screens 2.49c.
  test('shows code as it is written', () => {
    expect(shown('```\n  a < b\n```').querySelector('pre code')?.textContent).toBe('  a < b')
    expect(shown('`inline`').querySelector('code')?.textContent).toBe('inline')
  })
})

describe('Markdown that is too much', () => {
  test.each([
    ['quotes in quotes', `${'>'.repeat(10_000)} words`],
    ['quotes in quotes, apart', `${'> '.repeat(2_000)}words`],
    ['lists in lists', `${'- '.repeat(1_000)}words`],
    [
      'lists that go in and in',
      Array.from({ length: 200 }, (_, deep) => `${'  '.repeat(deep)}- words`).join('\n'),
    ],
    ['stars in stars', `${'*'.repeat(5_000)}words${'*'.repeat(5_000)}`],
    ['a megabyte', 'words **and** words\n\n'.repeat(50_000)],
  ])('is shown as it is written: %s', (_, text) => {
    expect(isTooMuch(text)).toBe(true)
    expect(shown(text).textContent).toBe(text)
  })

  test.each([
    ['brackets that never close', '['.repeat(20_000)],
    ['pictures that never close', '!['.repeat(10_000)],
    ['tags that never close', '<div>'.repeat(5_000)],
    ['a quote in a list in a quote', '> - > - words'],
    ['a line across', '-'.repeat(200)],
  ])('it is not, and does no harm: %s', (_, text) => {
    expect(isTooMuch(text)).toBe(false)
    expect(shown(text).querySelectorAll('*').length).toBeLessThan(20)
  })
})

test('a block of code is copied as it is written', () => {
  const written = vi.fn<(text: string) => Promise<void>>(async () => undefined)
  vi.stubGlobal('navigator', { ...navigator, clipboard: { writeText: written } })
  shown('Do this:\n\n```sh\nnpm test\nnpm start\n```\n')
  fireEvent.click(screen.getByRole('button', { name: 'Copy code' }))
  expect(written).toHaveBeenCalledWith('npm test\nnpm start')
  vi.unstubAllGlobals()
})

test('lines with their numbers are code', () => {
  expect(shown('See:\n1→const a = 1\n2→const b = 2\n').querySelector('pre code')?.textContent).toBe(
    '1→const a = 1\n2→const b = 2',
  )
})

describe('the beginning of a long text', () => {
  test.each(['```', '~~~', '~~~~'])(
    'a block of code that a cut leaves open after %s is closed by the same',
    (fence) => {
      const text = `${fence}\n${'code '.repeat(60)}`
      expect(beginning(text, 100)).toMatch(new RegExp(`^${fence}\n(code ?)+…\n${fence}$`))
    },
  )

  test('ends between words', () => {
    expect(beginning('one two three four', 15)).toBe('one two three…')
  })
  test('cuts a word that is all there is', () => {
    expect(beginning('x'.repeat(400), 300)).toBe(`${'x'.repeat(300)}…`)
  })
  test('closes a code block that it cuts', () => {
    expect(beginning(`text\n\`\`\`ts\n${'const a = 1\n'.repeat(50)}`, 100)).toMatch(/…\n```$/)
  })
  test('halves no character', () => {
    expect(beginning('🙂'.repeat(10), 5)).toBe(`${'🙂'.repeat(5)}…`)
  })
})

describe('Markdown that is being written', () => {
  const whole = [
    '# Plan\n\nFirst *this*,\nthen `that`.\n\n',
    '- one\n\n- two\n\n  of two\n\n1. a\n2. b\n\n',
    '```ts\nconst a = 1\n\nconst b = 2\n```\n\n> said\n\n> twice\n\n',
    '| a | b |\n|---|---|\n| 1 | 2 |\n\n---\n\n 12→a\n 13→b\n\n    indented\n\nSee [it] <b>now</b>.\n\n[it]: https://example.org\n',
  ].join('')
  test('looks wherever it ends as it would as a whole', () => {
    const html = (page: ReactNode) =>
      renderToStaticMarkup(page)
        .replaceAll(/\s*\n\s*/g, '\n')
        .replaceAll(/>\s+</g, '><')
    for (let length = 1; length <= whole.length; length += 3) {
      const text = whole.slice(0, length)
      expect([text, html(drawn(text, true))]).toEqual([text, html(drawn(text))])
    }
  })

  test('is read anew only where it grows, and once for each word', async () => {
    // Another test file may have loaded the module before, with the real parser.
    vi.resetModules()
    const fresh = await import('./Markdown.tsx')
    const growing = (text: string) => (
      <Provider store={store}>
        <fresh.Markdown text={text} growing />
      </Provider>
    )
    const { rerender } = render(growing('One\n\nTwo'))
    read.mockReset()
    rerender(growing('One\n\nTwo and'))
    rerender(growing('One\n\nTwo and more'))
    expect(read.mock.calls).toEqual([['Two and'], ['Two and more']])
  })
})
