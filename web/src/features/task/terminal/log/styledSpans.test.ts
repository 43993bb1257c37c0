import { describe, expect, test } from 'vitest'
import { spansOf } from './styledSpans.ts'

const escape = '\u001B'

describe('the spans of a line', () => {
  test('plain text is one span', () => {
    expect(spansOf('', 'plain')).toEqual([{ text: 'plain', className: '' }])
  })
  test('colours are those of the product', () => {
    expect(spansOf('', `${escape}[31mred${escape}[0m and ${escape}[1;32mbold`)).toEqual([
      { text: 'red', className: 'text-bad' },
      { text: ' and ', className: '' },
      { text: 'bold', className: 'text-ok font-semibold' },
    ])
  })
  test('go on from the line before', () => {
    expect(spansOf(`${escape}[36m`, 'cyan')).toEqual([{ text: 'cyan', className: 'text-ansi-cyan' }])
  })
  test('colours of the palette and true colours become the nearest that can be read', () => {
    expect(spansOf('', `${escape}[38;5;196mx`)[0]?.className).toBe('text-bad')
    expect(spansOf('', `${escape}[38;2;80;120;255mx`)[0]?.className).toBe('text-run')
    expect(spansOf('', `${escape}[38;5;244mx`)[0]?.className).toBe('text-muted')
  })
  test('markup stays text', () => {
    expect(spansOf('', `${escape}[31m<img src=x onerror=alert(1)>`)[0]?.text).toBe(
      '<img src=x onerror=alert(1)>',
    )
  })
})
