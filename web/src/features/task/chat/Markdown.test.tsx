// @vitest-environment jsdom
import { cleanup, render } from '@testing-library/react'
import { afterEach, describe, expect, test } from 'vitest'
import { Markdown } from './Markdown.tsx'
import { beginning } from './MessageBody.tsx'

afterEach(cleanup)
const shown = (text: string) => render(<Markdown text={text} />).container

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
  ])('does nothing and fetches nothing: %s', (text) => {
    const page = shown(text)
    expect(page.querySelector('script, img, iframe, svg, object, embed, form, style')).toBeNull()
    for (const link of page.querySelectorAll('a')) expect(link.protocol).toMatch(/^https?:$/)
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

  test('shows code as it is written', () => {
    expect(shown('```\n  a < b\n```').querySelector('pre code')?.textContent).toBe('  a < b')
    expect(shown('`inline`').querySelector('code')?.textContent).toBe('inline')
  })
})

describe('the beginning of a long text', () => {
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
