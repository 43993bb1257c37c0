/** Uploads are limited: in total, for one person, and in how many are decoded at once. */
import { describe, expect, test } from 'vitest'
import { uploadLimits } from './upload.ts'

const full = { code: 'rate_limited', details: { retryAfterSeconds: 5 } }

/** Work that continues until `end` is called. */
function held() {
  let end: () => void = () => {}
  const ended = new Promise<void>((resolve) => (end = resolve))
  return { work: () => ended, end: () => end() }
}

describe('uploads under way', () => {
  test('of one person have a bound, and others come beside them', async () => {
    const { upload } = uploadLimits({ ofAll: 10, ofOnePerson: 2, decodedAtOnce: 1 })
    const [one, two] = [held(), held()]
    const running = [upload('ada', one.work), upload('ada', two.work)]
    await expect(upload('ada', async () => 'in')).rejects.toMatchObject(full)
    expect(await upload('grace', async () => 'in')).toBe('in')
    one.end()
    await running[0]
    expect(await upload('ada', async () => 'in')).toBe('in')
    two.end()
    await Promise.all(running)
  })

  test('of all have a bound', async () => {
    const { upload } = uploadLimits({ ofAll: 2, ofOnePerson: 2, decodedAtOnce: 1 })
    const [one, two] = [held(), held()]
    const running = [upload('ada', one.work), upload('grace', two.work)]
    await expect(upload('alan', async () => 'in')).rejects.toMatchObject(full)
    one.end()
    two.end()
    await Promise.all(running)
    expect(await upload('alan', async () => 'in')).toBe('in')
  })

  test('leave their place also when they fail', async () => {
    const { upload } = uploadLimits({ ofAll: 1, ofOnePerson: 1, decodedAtOnce: 1 })
    await expect(upload('ada', () => Promise.reject(new Error('broken')))).rejects.toThrow('broken')
    expect(await upload('ada', async () => 'in')).toBe('in')
  })
})

test('so many are decoded at once, the others in the order they came, also after one that fails', async () => {
  const { decode } = uploadLimits({ ofAll: 9, ofOnePerson: 9, decodedAtOnce: 2 })
  const begun: string[] = []
  const works = ['a', 'b', 'c', 'd'].map((name) => ({ name, ...held() }))
  const running = works.map(({ name, work }) =>
    decode(async () => {
      begun.push(name)
      await work()
      if (name === 'b') throw new Error('broken')
      return name
    }).catch((fault: Error) => fault.message),
  )
  await Promise.resolve()
  expect(begun).toEqual(['a', 'b'])
  works[1]?.end()
  expect(await running[1]).toBe('broken')
  expect(begun).toEqual(['a', 'b', 'c'])
  for (const { end } of works) end()
  expect(await Promise.all(running)).toEqual(['a', 'broken', 'c', 'd'])
  expect(begun).toEqual(['a', 'b', 'c', 'd'])
})
